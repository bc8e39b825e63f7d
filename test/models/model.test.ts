import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { costOf, exactCost } from '../../src/models/meter.ts'
import { linesOf, type Prices } from '../../src/models/rates.ts'

describe('the cost of a run', () => {
  const vectors: [lines: [quantity: number, pricePusd: bigint][], costNusd: bigint][] = [
    [[[20, 20_000n]], 400n],
    [[[31, 150_000n]], 4_650n],
    [[[1, 37_500n]], 38n],
    [
      [
        [1000, 150_000n],
        [500, 600_000n],
      ],
      450_000n,
    ],
    [[], 0n],
    [[[1, 1n]], 1n],
    [[[1000, 1n]], 1n],
    [[[1001, 1n]], 2n],
  ]
  for (const [lines, cost] of vectors) {
    const name = lines.map(([quantity, price]) => `${quantity} at ${price}`).join(', ')
    test(`${name || 'nothing'}: ${cost}`, () => {
      const priced = lines.map(([quantity, pricePusd]) => ({
        meter: 'input' as const,
        quantity,
        pricePusd,
      }))
      expect(costOf(priced, 0)).toBe(cost)
    })
  }

  test('the lines are rounded together, not one by one', () => {
    const line = { meter: 'input' as const, quantity: 1, pricePusd: 500n }
    expect(costOf([line, line], 0)).toBe(1n)
  })

  test('the discount is rounded down, so the price is never below what it says', () => {
    const line = { meter: 'input' as const, quantity: 39, pricePusd: 1000n }
    expect(costOf([line], 500)).toBe(38n)
    expect(costOf([line], 10_000)).toBe(0n)
  })

  test('numbers and bigints come to the same, on both sides of 2^50 pico-USD', () => {
    const around = [2 ** 50 - 1, 2 ** 50, 2 ** 50 + 1, 2 ** 53 - 1, 2 ** 53, 2 ** 53 + 1]
    const pricePusd = fc.oneof(
      fc.bigInt({ min: 0n, max: 2_000_000n }),
      fc.bigInt({ min: 0n, max: 9_000_000_000_000_000n }),
      fc.constantFrom(...around.map(BigInt)),
    )
    const quantity = fc.oneof(fc.nat(3000), fc.nat(10_000_000))
    const line = fc.record({ meter: fc.constant('input' as const), quantity, pricePusd })
    fc.assert(
      fc.property(fc.array(line, { maxLength: 4 }), (lines) => {
        expect(costOf(lines, 0)).toBe(exactCost(lines, 0))
      }),
      { numRuns: 2000 },
    )
  })

  test('more units never cost less', () => {
    const amount = fc.bigInt({ min: 0n, max: 9_000_000_000_000_000n })
    const count = fc.nat(10_000_000)
    fc.assert(
      fc.property(amount, count, count, fc.nat(10_000), (pricePusd, a, b, discount) => {
        const cost = (quantity: number) =>
          costOf([{ meter: 'input', quantity, pricePusd }], discount)
        expect(cost(Math.min(a, b)) <= cost(Math.max(a, b))).toBe(true)
      }),
    )
  })
})

describe('the lines of a run', () => {
  const prices: Prices = { inputPusd: 1n, outputPusd: 2n, requestNusd: 3n }
  const usage = { inputTokens: 10, outputTokens: 20 }

  test('chat has input and output, and a request of 1,000 pUSD a nUSD', () => {
    expect(linesOf(prices, 'chat', usage)).toEqual([
      { meter: 'input', quantity: 10, pricePusd: 1n },
      { meter: 'output', quantity: 20, pricePusd: 2n },
      { meter: 'request', quantity: 1, pricePusd: 3000n },
    ])
  })

  test('an embedding has no output; a run without a price of its own has no such line', () => {
    expect(linesOf({ ...prices, requestNusd: 0n }, 'embedding', usage)).toEqual([
      { meter: 'input', quantity: 10, pricePusd: 1n },
    ])
  })
})
