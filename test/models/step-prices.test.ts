import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { canonical } from '../../src/kernel/canonical.ts'
import { sha256Hex } from '../../src/kernel/hash.ts'
import { belowCost } from '../../src/models/below-cost.ts'
import type { Bound } from '../../src/models/bound.ts'
import { makeCatalogue, toModelView } from '../../src/models/catalogue.ts'
import { costOf, inputClasses, outputClasses, type UsageClass } from '../../src/models/meter.ts'
import type { Model, RouteStep } from '../../src/models/model.ts'
import { faultsOf, type ModelConfig, type StepConfig } from '../../src/models/model-config.ts'
import { priceText, rateSections } from '../../src/models/pages/shown-rates.ts'
import { pricesFrom, ratesOf } from '../../src/models/quoted-rates.ts'
import {
  chargedLines,
  holdLines,
  linesOf,
  makePrices,
  type Prices,
} from '../../src/models/rates.ts'
import { dearestOf, pricesAt, variedPrices, withPrices } from '../../src/models/step-prices.ts'
import { decideUsage } from '../../src/models/usage.ts'
import { affordableTokens, holdOf, withTokens } from '../../src/runs/fit.ts'
import { promise } from '../support/promise.ts'

const base: ModelConfig = {
  id: 'acme/large',
  kind: 'chat',
  context_tokens: 1000,
  max_output_tokens: 100,
  input_pusd: 1000,
  output_pusd: 2000,
}
const apart = { input_pusd: 3000, output_pusd: 1500 }
const routed = (...route: (string | StepConfig)[]): ModelConfig => ({ ...base, route })
const upstreamIds = ['local', 'far', 'near']
const modelOf = (config: ModelConfig): Model => {
  const found = makeCatalogue({ models: [config], upstreamIds }).get(config.id)
  if (!found) throw new Error('no such model')
  return found
}
const stepOf = ({ route }: Model, at: number): RouteStep => {
  const step = route[at]
  if (!step) throw new Error('no such step')
  return step
}

const rate = fc.bigInt({ min: 0n, max: 50n })
const classNames: readonly UsageClass[] = [...inputClasses, ...outputClasses]
const anyRates = fc.record(Object.fromEntries(classNames.map((one) => [one, rate])), {
  requiredKeys: [],
})
/** Prices with the tier and the searches that all steps of a model have alike. */
const anyPrices = (hasTier: boolean, hasSearch: boolean): fc.Arbitrary<Prices> =>
  fc
    .record({
      own: fc.record({ inputPusd: rate, outputPusd: rate, requestNusd: rate }),
      classes: anyRates,
      search: rate,
      bands: fc.uniqueArray(
        fc.record({ aboveInputTokens: fc.constantFrom(5, 20), rates: anyRates }),
        { maxLength: 2, selector: ({ aboveInputTokens }) => aboveInputTokens },
      ),
      tier: anyRates,
    })
    .map(({ own, classes, search, bands, tier }) =>
      makePrices(own, {
        classes: hasSearch ? { ...classes, web_search: search } : classes,
        bands,
        tiers: hasTier ? [{ name: 'fast', rates: { ...tier, input: own.inputPusd } }] : [],
      }),
    )
const anyModel = fc
  .tuple(fc.boolean(), fc.boolean())
  .chain(([hasTier, hasSearch]) =>
    fc.record({
      prices: anyPrices(hasTier, hasSearch),
      steps: fc.array(fc.option(anyPrices(hasTier, hasSearch), { nil: undefined }), {
        minLength: 1,
        maxLength: 4,
      }),
      hasTier: fc.constant(hasTier),
    }),
  )
  .map(({ prices, steps, hasTier }) => {
    const route = steps.map(
      (own, at): RouteStep => ({ upstream: `u${at}`, model: 'm', ...(own && { prices: own }) }),
    )
    const varied = variedPrices(prices, route)
    return { model: { ...modelOf(routed('local:a')), prices, route, varied }, hasTier }
  })
const count = fc.nat(40)
const anyRun = fc.record({
  inputTokens: fc.integer({ min: 1, max: 40 }),
  maxTokens: fc.integer({ min: 1, max: 20 }),
  n: fc.integer({ min: 1, max: 3 }),
  hasContext: fc.boolean(),
  asksTier: fc.boolean(),
  webSearches: fc.nat(3),
  held: fc.option(
    fc
      .subarray([...classNames])
      .map((some) => new Set<UsageClass>(['cache_read', 'reasoning', 'web_search', ...some])),
    { nil: undefined },
  ),
  discountBps: fc.constantFrom(0, 1, 500, 9999),
  said: fc.constantFrom('fast', 'default', 'other', undefined),
  reported: fc.record({
    prompt_tokens: count,
    completion_tokens: count,
    prompt_tokens_details: fc.record({
      cached_tokens: count,
      cache_write_tokens: count,
      audio_tokens: count,
      image_tokens: count,
    }),
    completion_tokens_details: fc.record({ reasoning_tokens: count, audio_tokens: count }),
  }),
  searches: fc.nat(5),
})
type AnyRun = typeof anyRun extends fc.Arbitrary<infer T> ? T : never

function boundOf(run: AnyRun, hasTier: boolean): Bound {
  const { inputTokens, maxTokens, n, webSearches } = run
  const bound: Bound = { inputTokens, outputTokens: maxTokens * n, maxTokens, n, inputBytes: 40 }
  if (run.asksTier && hasTier) bound.tier = 'fast'
  if (run.held) bound.held = run.held
  if (webSearches > 0) bound.webSearches = webSearches
  const context = Math.max(inputTokens, maxTokens) + 1
  if (run.hasContext && inputTokens + maxTokens > context) bound.contextTokens = context
  return bound
}

/** What the run costs where this step answers. */
function chargeAt(
  model: Model,
  step: RouteStep,
  run: Omit<AnyRun, 'discountBps'> & { discountBps: number },
  bound: Bound,
  hold: bigint,
): bigint {
  const prices = pricesAt(model, step)
  const { usage } = decideUsage({
    bound,
    prices,
    reported: run.reported,
    tier: run.said,
    searches: run.searches,
    delivered: { inputBytes: 40, outputBytes: 40, output: [] },
    counting: { bytesPerToken: 4 },
    embedded: false,
  })
  const { lines } = chargedLines(prices, 'chat', usage, { hold, discountBps: run.discountBps })
  return costOf(lines, run.discountBps)
}

promise`D62 C: Where steps of a route have prices of their own, the hold is that of the dearest of them and
  never below what is charged, whichever step answers.`
test('The hold is that of the dearest step, and no step charges more.', () => {
  fc.assert(
    fc.property(anyModel, anyRun, ({ model, hasTier }, run) => {
      const bound = boundOf(run, hasTier)
      const hold = holdOf(model, bound, run.discountBps)
      const holds = model.route.map((step) =>
        costOf(holdLines(pricesAt(model, step), 'chat', bound), run.discountBps),
      )
      expect(holds.includes(hold)).toBe(true)
      for (const own of holds) expect(own <= hold).toBe(true)
      for (const step of model.route) {
        expect(chargeAt(model, step, run, bound, hold) <= hold).toBe(true)
      }
    }),
    { numRuns: 2000 },
  )
})

test('What a balance affords is held, and a token more is not affordable.', () => {
  fc.assert(
    fc.property(anyModel, anyRun, fc.bigInt({ min: 0n, max: 900n }), ({ model }, run, room) => {
      const bound = boundOf({ ...run, hasContext: false }, false)
      const tokens = affordableTokens(model, bound, room, run.discountBps)
      if (tokens === null) return
      const holdWith = (one: number) => holdOf(model, withTokens(bound, one), run.discountBps)
      if (tokens > 0) expect(holdWith(tokens) <= room).toBe(true)
      if (tokens < bound.maxTokens) expect(holdWith(tokens + 1) > room).toBe(true)
    }),
    { numRuns: 1000 },
  )
})

test('No run costs more than at the dearest rates, which a quote promises and keeps.', () => {
  fc.assert(
    fc.property(anyModel, anyRun, ({ model, hasTier }, run) => {
      const bound = boundOf(run, hasTier)
      const lists = model.route.map((step) => pricesAt(model, step))
      const dearest = pricesFrom(ratesOf(dearestOf(lists), hasTier ? 'fast' : undefined))
      const hold = costOf(holdLines(dearest, 'chat', bound), 0)
      const plain = { ...run, discountBps: 0 }
      for (const step of model.route) {
        const own = costOf(holdLines(pricesAt(model, step), 'chat', bound), 0)
        expect(own <= hold).toBe(true)
        // The same units, as the quoted run is charged for them.
        const usage = { inputTokens: 7, outputTokens: 5, tier: bound.tier, held: bound.held }
        const [sold, most] = [pricesAt(model, step), dearest].map((of) =>
          costOf(linesOf(of, 'chat', usage), 0),
        )
        expect((sold ?? 0n) <= (most ?? 0n)).toBe(true)
        const quoted = withPrices(model, dearest)
        expect(holdOf(quoted, bound, 0)).toBe(hold)
        expect(chargeAt(quoted, stepOf(quoted, 0), plain, bound, hold) <= hold).toBe(true)
      }
    }),
    { numRuns: 1000 },
  )
})

describe('steps of a route', () => {
  const model = modelOf(routed({ to: 'local:a' }, { to: 'far:b', prices: apart }))

  test('sell at the prices of the model unless they name their own', () => {
    expect(model.route.map((step) => pricesAt(model, step))).toEqual([
      { inputPusd: 1000n, outputPusd: 2000n, requestNusd: 0n },
      { inputPusd: 3000n, outputPusd: 1500n, requestNusd: 0n },
    ])
    expect(modelOf(routed('local:a', 'far:b'))).not.toHaveProperty('varied')
  })

  test('that all have prices of their own leave those of the model out of the hold', () => {
    const cheap = { input_pusd: 1, output_pusd: 1 }
    const all = modelOf(routed({ to: 'local:a', prices: cheap }, { to: 'far:b', prices: cheap }))
    const bound = { inputTokens: 10, outputTokens: 10, maxTokens: 10, n: 1, inputBytes: 10 }
    expect(holdOf(all, bound, 0)).toBe(1n)
  })

  test('have their prices in the public list, without their names, and in its digest', () => {
    const view = toModelView(model)
    expect(view.prices).toEqual({
      input_pusd: 1000,
      output_pusd: 2000,
      request_nusd: 0,
      others: [{ input_pusd: 3000, output_pusd: 1500, request_nusd: 0 }],
    })
    expect(JSON.stringify(view)).not.toContain('far')
    const { list, priceList } = makeCatalogue({
      models: [routed('local:a', { to: 'far:b', prices: apart })],
      upstreamIds,
    })
    const views = list().map((one) => toModelView(one))
    const listed = views
      .toSorted((a, b) => (a.id < b.id ? -1 : 1))
      .map(({ id, prices }) => ({ id, ...prices }))
    expect(priceList.digest).toBe(sha256Hex(canonical(listed)))
  })

  test('are shown to buyers by their prices and by the dearest of each', () => {
    expect(priceText(model, 'per 1M')).toBe('up to $0.003 in, $0.002 out per 1M')
    expect(rateSections(model).map(({ when }) => when)).toEqual([undefined, 'Another server'])
  })

  test('are below cost by their own prices, not by those of the model', () => {
    const costs = { input_pusd: 2000, output_pusd: 1600 }
    const found = belowCost([
      modelOf(routed('local:a', { to: 'far:b', cost: costs, prices: apart })),
    ])
    expect(found.map(({ step, meter, price }) => [step, meter, price])).toEqual([
      ['far:b', 'output', 1500n],
    ])
  })

  test.each([
    ['a price alone', { output_pusd: 1 }, 'needs input_pusd (0 when it is free)'],
    ['no output', { input_pusd: 1 }, 'needs output_pusd (0 when it is free)'],
    ['no tier', apart, 'needs prices of the tier "fast", which the model has'],
    [
      'another tier',
      { ...apart, tiers: [{ name: 'slow', input_pusd: 1 }] },
      'has the tier "slow", which the model has not',
    ],
    ['no searches', apart, 'needs web_search_nusd, which the model has'],
  ])('with %s are refused', (_, prices, words) => {
    const config = {
      ...routed({ to: 'far:b', prices }),
      web_search_nusd: 5,
      tiers: [{ name: 'fast', input_pusd: 1 }],
    }
    expect(faultsOf({ models: [config], upstreamIds })).toContain(
      `"acme/large" route "far:b": ${words}`,
    )
  })

  test('with searches that the model does not sell are refused', () => {
    const config = routed({ to: 'far:b', prices: { ...apart, web_search_nusd: 5 } })
    expect(faultsOf({ models: [config], upstreamIds })).toEqual([
      '"acme/large" route "far:b": has web_search_nusd, which the model has not',
    ])
  })
})
