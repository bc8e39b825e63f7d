import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { discountFor } from '../../../src/access/plan.ts'
import { makePlans } from '../../../src/access/plan-config.ts'
import { toPlanView } from '../../../src/billing/plans/plan-view.ts'
import { discountWords, paysFrom, planModelsText } from '../../../src/billing/plans/plan-words.ts'
import { faultsIn, withModels } from '../../../src/config/model-text.ts'
import { expectSettled, lastEnded, modelToml, upstreamToml } from '../../support/runs.ts'
import { type StubUpstream, startStubUpstream } from '../../support/stub-upstream.ts'
import { configOf, usd, type World, world } from '../../support/world.ts'

const plan = (models: string, more = 'discount_bps = 500') =>
  `[[plans]]\nid = "free"\n${more}\nmodels = [${models}]\n`
const sold = (models: string) => {
  const { plans, limits } = configOf(plan(models))
  const found = makePlans(plans, limits).find('free')
  if (!found) throw new Error('no such plan')
  return found
}

describe('a plan with discounts of single models', () => {
  const own = sold(
    '"a/*", { match = "b/*", discount_bps = 1000 }, { match = "b/x", discount_bps = 9 }',
  )

  test('has that of the first item that names a model, else its own', () => {
    const discounts = ['a/x', 'b/x', 'b/y', 'c/z'].map((id) => discountFor(own, id))
    expect(discounts).toEqual([500, 1000, 1000, 500])
    expect(discountFor(sold('"b/x", { match = "b/*", discount_bps = 0 }'), 'b/x')).toBe(500)
    expect(discountFor(sold('{ match = "b/*", discount_bps = 0 }'), 'b/x')).toBe(0)
    expect(sold('"a/*", { match = "b/*" }')).not.toHaveProperty('discounts')
  })

  test('allows the models of all its items, and tells buyers what they cost', () => {
    expect(own.models).toEqual(['a/*', 'b/*', 'b/x'])
    expect(planModelsText(own)).toBe('a/*, b/* (10% discount), b/x (0.09% discount)')
    expect(toPlanView(own).discounts).toEqual([
      { models: 'a/*', discount_bps: 500 },
      { models: 'b/*', discount_bps: 1000 },
      { models: 'b/x', discount_bps: 9 },
    ])
    expect(toPlanView(sold('"a/*"'))).not.toHaveProperty('discounts')
    expect([own, sold('"a/*"')].map(discountWords)).toEqual([
      'Discount on other runs',
      'Discount on every run',
    ])
    expect(paysFrom(sold('"a/*"'), { ...own, price: usd })).toBeUndefined()
  })

  test('is refused with what an item lacks', () => {
    expect(() => configOf(plan('{ discount_bps = 1000 }'))).toThrow(
      'plans[1].models[1].match is missing',
    )
    expect(() => configOf(plan('{ match = "a", discount_bps = 10001 }'))).toThrow(
      'plans[1].models[1].discount_bps must be',
    )
    expect(() => configOf(plan('7'))).toThrow('plans[1].models[1] must be')
  })

  const costly = `{ to = "stub:a", cost = { input_pusd = 950_000, output_pusd = 1_000_000 } }`
  const file = (models: string) =>
    upstreamToml('stub', 'http://127.0.0.1:9/v1') + modelToml('b/x', costly) + plan(models)

  test('is refused where it sells below a known cost, by plan, model and rate', () => {
    const words =
      'b/x sells input at $1.00, stub:a costs $0.95 per 1M tokens, with the 6 % off of plan free'
    const below = file('{ match = "b/*", discount_bps = 600 }')
    expect(() => configOf(below)).toThrow(`plans: below cost: ${words}`)
    expect(faultsIn(below)).toEqual([words])
    for (const models of ['{ match = "b/*", discount_bps = 500 }', '"b/*"']) {
      expect(() => configOf(file(models))).not.toThrow()
      expect(faultsIn(file(models))).toEqual([])
    }
    // A discount on every run is told at the start, as it was.
    expect(() => configOf(file('"b/*"').replace('= 500', '= 600'))).not.toThrow()
  })

  test('stays in the file when a model beside it changes', () => {
    const text = file('"a/*", { match = "b/*", discount_bps = 500 }')
    const changed = withModels(text, [{ id: 'b/x', set: { name: 'X' }, remove: [] }], [])
    expect(changed).toContain('{ match = "b/*", discount_bps = 500 }')
  })
})

describe('runs of a plan with discounts of single models', () => {
  let w: World
  let stub: StubUpstream
  let secret: string
  beforeAll(async () => {
    stub = await startStubUpstream()
    const toml = [
      upstreamToml('stub', stub.url),
      modelToml('a/x', '"stub:normal"'),
      modelToml('b/x', '"stub:normal"'),
      modelToml('c/x', '"stub:normal"'),
      plan('"a/*", { match = "b/*", discount_bps = 2500 }'),
    ].join('')
    w = await world({ toml })
    secret = (await w.key({ balance: 100n * usd })).secret
  }, 30_000)
  afterAll(async () => {
    await expectSettled(w)
    await w.stop()
    await stub.stop()
  })
  const ask = (model: string, headers = {}) =>
    w.call('/v1/chat/completions', {
      key: secret,
      headers,
      json: { model, messages: [{ role: 'user', content: 'Hi.' }], max_tokens: 100 },
    })

  test('are held and charged with the discount of their model, which receipts say', async () => {
    const found = []
    for (const model of ['a/x', 'b/x']) {
      await (await ask(model)).text()
      const run = await lastEnded(w)
      const path = `/v1/receipts/rcpt_${run.id.slice(4)}`
      const file = await (await w.call(path, { key: secret })).json()
      const verdict = await w.call('/v1/receipts/verify', { json: { receipt: file } })
      expect((await verdict.json()).valid).toBe(true)
      expect(run.cost).toBeLessThanOrEqual(run.hold)
      found.push([run.discountBps, file.receipt.charge.discountBps])
    }
    expect(found).toEqual([
      [500, '500'],
      [2500, '2500'],
    ])
    expect((await ask('c/x')).status).toBe(403)
  })

  test('have it promised by a quote', async () => {
    const wish = { model: 'b/x', max_input_tokens: 500, max_output_tokens: 100, valid_s: 600 }
    const quote = await (await w.call('/v1/quotes', { key: secret, json: wish })).json()
    expect(quote.quote.discount_bps).toBe('2500')
    await (await ask('b/x', { 'x-counterfoil-quote': quote.id })).text()
    expect((await lastEnded(w)).discountBps).toBe(2500)
  })
})
