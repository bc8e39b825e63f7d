import { expect, test } from 'bun:test'
import { faultsIn } from '../../src/config/model-text.ts'
import { makeCatalogue } from '../../src/models/catalogue.ts'
import { modelToml, upstreamToml } from '../support/runs.ts'
import { configOf } from '../support/world.ts'

const upstreams =
  upstreamToml('off', 'http://127.0.0.1:9/v1', 'status = "disabled"') +
  upstreamToml('on', 'http://127.0.0.1:9/v1')
const modelOf = (route: string, more: string) => {
  const { models } = configOf(upstreams + modelToml('a/m', route, more))
  return makeCatalogue({ models, upstreamIds: ['off', 'on'] }).get('a/m')
}

test('A model whose only weights are at a disabled upstream keeps the order of the others.', () => {
  const route = '{ to = "off:m", weight = 1 }, "on:m", "on:n"'
  const model = modelOf(route, 'balance = "weight"')
  expect([model?.balance, model?.route.map((step) => step.model)]).toEqual([undefined, ['m', 'n']])
  const weighted = modelOf(`${route}, { to = "on:o", weight = 2 }`, 'balance = "latency"')
  expect(weighted?.balance).toBe('latency')
})

test('A model of which a disabled upstream leaves steps with prices of their own has no hours.', () => {
  const own = '{ to = "on:m", input = "$3/M", output = "$4/M" }'
  const hours =
    '[[models.hours]]\nfrom = "16:30"\nto = "00:30"\ninput = "$0.5/M"\noutput = "$1/M"\n'
  const model = modelOf(`"off:m", ${own}`, hours)
  expect(model?.hours).toBeUndefined()
  expect(model?.prices.inputPusd).toBe(3_000_000n)
  expect(modelOf(`"off:m", "on:n", ${own}`, hours)?.hours?.windows).toHaveLength(1)
})

test('A cost at a disabled upstream refuses a discount neither at the load nor at a change.', () => {
  const cost = 'cost = { input = "$0.95/M", output = "$1.9/M" }'
  const text = (route: string) =>
    `${upstreams}${modelToml('a/m', route)}[[plans]]\nid = "big"\nprice = "$1"\n` +
    'models = [{ match = "a/*", discount_bps = 1000 }]\n'
  const fine = text(`"on:m", { to = "off:m", ${cost} }`)
  expect(() => configOf(fine)).not.toThrow()
  expect(faultsIn(fine)).toEqual([])
  expect(faultsIn(text(`{ to = "on:m", ${cost} }`))).toHaveLength(2)
})
