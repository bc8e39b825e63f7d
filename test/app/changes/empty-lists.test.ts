import { expect, test } from 'bun:test'
import { writtenPrices } from '../../../src/app/changes/price-change.ts'
import { diffModels } from '../../../src/config/model-diff.ts'
import { rawModels } from '../../../src/config/model-text.ts'
import { modelToml, upstreamToml } from '../../support/runs.ts'

const modelsWith = (of: string) =>
  rawModels(
    upstreamToml('x', 'http://127.0.0.1:9/v1') +
      modelToml('a/m', `{ to = "x:m", cost = { input_pusd = 4, output_pusd = 5 }, ${of} }`),
  )
const wanted = {
  id: 'a/m',
  kind: 'chat',
  context_tokens: 10_000n,
  max_output_tokens: 1000n,
  input_pusd: 5n,
  output_pusd: 6n,
  route: [{ to: 'x:m', cost: { input_pusd: 4n, output_pusd: 5n } }],
}

test('Empty bands of a step are not prices of its own, for the page as for an import.', () => {
  const found = ['bands = [], tiers = []', 'bands = [{ above_input_tokens = 5 }]'].map((of) => {
    const models = modelsWith(of)
    const [model] = models
    const costs = model && writtenPrices(model).map(({ cost }) => cost)
    return [costs, JSON.stringify(diffModels(models, [wanted], 'x'), inWords)]
  })
  const [empty, own] = found
  expect(empty?.[0]).toEqual([4n, 5n])
  expect(own?.[0]).toEqual([undefined, undefined])
  expect(empty?.[1]).not.toContain('prices of its own')
  expect(own?.[1]).toContain('prices of its own')
})

const inWords = (_: string, value: unknown) => (typeof value === 'bigint' ? `${value}` : value)
