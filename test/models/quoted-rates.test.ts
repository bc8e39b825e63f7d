import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { costOf } from '../../src/models/meter.ts'
import { pricesFrom, ratesOf } from '../../src/models/quoted-rates.ts'
import { holdLines, linesOf, makePrices } from '../../src/models/rates.ts'

const price = fc.bigInt({ min: 0n, max: 9_000_000n })
const rates = fc.record(
  { input: price, output: price, cache_read: price, cache_write: price, reasoning: price },
  { requiredKeys: [] },
)
const anyPrices = fc
  .record({
    own: fc.record({ inputPusd: price, outputPusd: price, requestNusd: price }),
    classes: fc.record({ cache_read: price, reasoning: price }, { requiredKeys: [] }),
    bands: fc.array(fc.record({ aboveInputTokens: fc.constantFrom(0, 9, 50), rates }), {
      maxLength: 1,
    }),
    tiers: fc
      .constantFrom([], ['priority'])
      .chain((names) =>
        fc.tuple(...names.map((name) => fc.record({ name: fc.constant(name), rates }))),
      ),
  })
  .map(({ own, ...more }) => makePrices(own, more))

test('Rates of a quote hold and charge a run as the prices that they were written from.', () => {
  const usage = fc.record({
    inputTokens: fc.nat(100),
    outputTokens: fc.nat(100),
    tier: fc.constantFrom(undefined, 'priority'),
    classes: fc.record({ cache_read: fc.nat(5), reasoning: fc.nat(5) }),
    held: fc.constantFrom(undefined, new Set(['cache_read', 'reasoning'] as const)),
  })
  fc.assert(
    fc.property(anyPrices, usage, fc.constantFrom('chat', 'embedding'), (prices, used, kind) => {
      const tier = prices.card?.steps.has('priority') ? 'priority' : undefined
      const quoted = pricesFrom(ratesOf(prices, tier))
      expect(costOf(linesOf(quoted, kind, used), 0)).toBe(costOf(linesOf(prices, kind, used), 0))
      expect(holdLines(quoted, kind, used)).toEqual(holdLines(prices, kind, used))
    }),
    { numRuns: 500 },
  )
})

test('Plain prices stay plain, and a list without rates is refused.', () => {
  const plain = { inputPusd: 3n, outputPusd: 5n, requestNusd: 7n }
  expect(pricesFrom(ratesOf(plain, undefined))).toEqual(plain)
  expect(ratesOf(plain, undefined).map(({ meter, price: of }) => [meter, of])).toEqual([
    ['input', 3n],
    ['output', 5n],
    ['request', 7000n],
  ])
  expect(() => pricesFrom([])).toThrow('a quote without rates')
})
