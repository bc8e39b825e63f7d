import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { makePlans } from '../../../src/access/plan-config.ts'
import { lossWords } from '../../../src/billing/margins/losses.ts'
import { belowCost } from '../../../src/models/below-cost.ts'
import { makeCatalogue } from '../../../src/models/catalogue.ts'
import { faultsOf, type ModelConfig } from '../../../src/models/model-config.ts'
import type { PricesConfig } from '../../../src/models/rate-fields.ts'
import { soldPlans } from '../../support/plans.ts'

const model = (cost: PricesConfig, more: Partial<ModelConfig> = {}): ModelConfig => ({
  id: 'acme/large',
  kind: 'chat',
  context_tokens: 1000,
  max_output_tokens: 100,
  input_pusd: 1000,
  output_pusd: 2000,
  route: ['local:own', { to: 'far:large', cost }],
  ...more,
})
const catalogue = (config: ModelConfig) =>
  makeCatalogue({ models: [config], upstreamIds: ['local', 'far'] }).list()
const losses = (cost: PricesConfig, more?: Partial<ModelConfig>) =>
  belowCost(catalogue(model(cost, more))).map(
    ({ meter, tier, aboveInputTokens }) =>
      `${meter}${tier ? ` ${tier}` : ''}${aboveInputTokens ? ` >${aboveInputTokens}` : ''}`,
  )
const plans = makePlans(soldPlans, { rpm: 10, concurrency: 10 }).list

describe('a model is sold below cost where a price', () => {
  const even = { input_pusd: 1000, output_pusd: 2000 }
  test('is less than what a step of its route costs, of any meter', () => {
    expect(losses(even)).toEqual([])
    expect(losses({ ...even, output_pusd: 2001 })).toEqual(['output'])
    expect(losses({ input_pusd: 1001, output_pusd: 2001 })).toEqual(['input', 'output'])
    expect(losses({ ...even, request_nusd: 1 })).toEqual(['request'])
    expect(losses({ ...even, web_search_nusd: 1 })).toEqual(['web_search'])
    expect(losses({ ...even, reasoning_pusd: 2001 })).toEqual(['reasoning'])
  })
  test('of a class falls back to less than the class costs', () => {
    expect(losses({ ...even, cache_write_pusd: 1001 })).toEqual(['cache_write'])
    expect(losses({ ...even, cache_read_pusd: 100 })).toEqual([])
    // Sold cheaper, bought at the dearest of reading.
    expect(losses(even, { cache_read_pusd: 100 })).toEqual(['cache_read'])
  })
  test('of a band or a tier is, on either side', () => {
    const band = { above_input_tokens: 500, input_pusd: 1001 }
    expect(losses({ ...even, bands: [band] })).toEqual(['input >500'])
    expect(losses({ ...even, bands: [band] }, { bands: [band] })).toEqual([])
    const tier = { name: 'priority', output_pusd: 4000 }
    expect(losses({ ...even, tiers: [tier] })).toEqual([])
    const cheap = { tiers: [{ name: 'priority', output_pusd: 3999 }] }
    expect(losses({ ...even, tiers: [tier] }, cheap)).toEqual(['output priority'])
  })
  test('is with the discount of a plan, which is said apart', () => {
    const cost = { input_pusd: 940, output_pusd: 1000 }
    expect(lossWords(catalogue(model(cost)), plans)).toEqual([
      'acme/large sells input at $0.001, far:large costs $0.00094 per 1M tokens, with the 10 % off of plan scale',
    ])
    expect(lossWords(catalogue(model({ ...cost, input_pusd: 1001 })), plans)).toEqual([
      'acme/large sells input at $0.001, far:large costs $0.001001 per 1M tokens',
    ])
  })
  const night = { from: '16:30', to: '00:30', input_pusd: 500, output_pusd: 1000 }
  test('is with the discount of a plan, also where it is another hour or band without it', () => {
    const cost = { input_pusd: 900, output_pusd: 1800 }
    const half = soldPlans.map((one) => ({ ...one, id: 'big', models: [], discount_bps: 5000 }))
    const [plan] = makePlans(half.slice(0, 1), { rpm: 10, concurrency: 10 }).list.filter(
      ({ id }) => id === 'big',
    )
    const said = (more: Partial<ModelConfig>) =>
      lossWords(catalogue(model(cost, more)), plan ? [plan] : []).filter((one) =>
        one.includes('plan big'),
      )
    const usual = said({})
    expect(usual).toHaveLength(2)
    expect(said({ hours: [night] })).toEqual(usual)
    expect(said({ bands: [{ above_input_tokens: 500, input_pusd: 1, output_pusd: 1 }] })).toEqual(
      usual,
    )
    expect(said({ tiers: [{ name: 'flex', input_pusd: 1, output_pusd: 1 }] })).toEqual(usual)
  })
  test('is in each of the hours with prices of their own', () => {
    const cost = { input_pusd: 900, output_pusd: 900 }
    const early = { ...night, from: '08:00', to: '09:00', input_pusd: 1 }
    const found = belowCost(catalogue(model(cost, { hours: [night, early] })))
    expect(found.map(({ hours, price }) => [hours, price])).toEqual([
      ['16:30 to 00:30 UTC', 500n],
      ['08:00 to 09:00 UTC', 1n],
    ])
    // A step with prices of its own has them at any hour.
    const route = [
      'local:own',
      { to: 'far:large', cost, prices: { input_pusd: 1, output_pusd: 900 } },
    ]
    expect(belowCost(catalogue(model(cost, { route, hours: [night, early] })))).toHaveLength(1)
  })
  test('comes there by a discount, at any hour, tier and input', () => {
    const rates = fc.record({ input_pusd: fc.nat(9), output_pusd: fc.nat(9) })
    const of = fc.record({ own: rates, band: rates, tier: rates, night: rates, cost: rates })
    fc.assert(
      fc.property(of, fc.integer({ min: 1, max: 10_000 }), ({ own, cost, ...other }, bps) => {
        const sold = catalogue(
          model(cost, {
            ...own,
            bands: [{ above_input_tokens: 500, ...other.band }],
            tiers: [{ name: 'flex', ...other.tier }],
            hours: [{ ...night, ...other.night, tiers: [{ name: 'flex', ...other.night }] }],
          }),
        )
        // Of a band and a tier the higher rate applies.
        const { band, tier, night: then } = other
        const isLost = (['input_pusd', 'output_pusd'] as const).some((meter) =>
          [own, band, tier, then].some(
            ({ [meter]: price }) =>
              price >= cost[meter] && price * (10_000 - bps) < cost[meter] * 10_000,
          ),
        )
        if (isLost) expect(belowCost(sold, bps)).not.toEqual([])
      }),
      { numRuns: 1000 },
    )
  })
  test('is not where the model is disabled or no cost is known', () => {
    const dear = { input_pusd: 9000, output_pusd: 9000 }
    expect(losses(dear, { status: 'disabled' })).toEqual([])
    expect(losses(dear, { route: ['local:own'] })).toEqual([])
  })
})

describe('a cost in the configuration', () => {
  const faults = (cost: PricesConfig) =>
    faultsOf({ models: [model(cost)], upstreamIds: ['local', 'far'] })
  test('without a price of reading or writing is refused: it would be too low by accident', () => {
    expect(faults({ output_pusd: 1 })).toEqual([
      '"acme/large" route "far:large": cost needs input_pusd (0 when it is free)',
    ])
    expect(faults({ input_pusd: 1 })).toHaveLength(1)
    expect(faults({ input_pusd: 1, output_pusd: 1 })).toEqual([])
  })
  test('is checked as prices are, bands and tiers too', () => {
    expect(faults({ input_pusd: 1.5, output_pusd: 1 })[0]).toContain('is not an integer')
    const tiers = [{ name: 'auto', input_pusd: 1 }]
    expect(faults({ input_pusd: 1, output_pusd: 1, tiers })[0]).toContain('ordinary tier')
  })
})
