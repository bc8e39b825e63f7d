import { describe, expect, test } from 'bun:test'
import { addMonths, monthAt, restOf } from '../../../src/billing/plans/period.ts'
import { prng } from '../../ledger/prng.ts'

const at = (text: string): number => Date.parse(text)
const shown = (time: number): string => new Date(time).toISOString().replace('.000', '')

describe('a calendar month later', () => {
  const months: [from: string, months: number, to: string][] = [
    ['2026-01-31T10:00:00Z', 1, '2026-02-28T10:00:00Z'],
    ['2026-01-31T10:00:00Z', 2, '2026-03-31T10:00:00Z'],
    ['2026-01-31T10:00:00Z', 3, '2026-04-30T10:00:00Z'],
    ['2028-01-31T23:59:59Z', 1, '2028-02-29T23:59:59Z'],
    ['2026-02-28T00:00:00Z', 1, '2026-03-28T00:00:00Z'],
    ['2026-12-31T00:00:00Z', 1, '2027-01-31T00:00:00Z'],
    ['2026-12-31T00:00:00Z', 2, '2027-02-28T00:00:00Z'],
    ['2026-11-21T12:34:56Z', 1, '2026-12-21T12:34:56Z'],
    ['2026-08-30T01:00:00Z', 6, '2027-02-28T01:00:00Z'],
    ['2026-03-31T10:00:00Z', -1, '2026-02-28T10:00:00Z'],
  ]
  test.each(months)('%s and %d months is %s', (from, count, to) => {
    expect(shown(addMonths(at(from), count))).toBe(to)
  })

  test('what began on the 31st is always in one month, each beginning where the last one ends', () => {
    const dice = prng(3)
    for (let i = 0; i < 500; i++) {
      const start = at('2026-01-28T00:00:00Z') + dice.below(4 * 86_400) * 1000
      let period = monthAt(start, start)
      expect(period.start).toBe(start)
      for (let month = 0; month < 30; month++) {
        const inside = period.start + (dice.below(2_000_000_000) % (period.end - period.start))
        expect(monthAt(start, inside)).toEqual(period)
        const next = monthAt(start, period.end)
        expect(next.start).toBe(period.end)
        period = next
      }
    }
  })
})

describe('what is left of a period', () => {
  const november = { start: at('2026-11-01T00:00:00Z'), end: at('2026-12-01T00:00:00Z') }
  const vectors: [price: bigint, when: string, rest: bigint][] = [
    [20_000_000_000n, '2026-11-01T00:00:00Z', 20_000_000_000n],
    [20_000_000_000n, '2026-11-16T00:00:00Z', 10_000_000_000n],
    [20_000_000_000n, '2026-11-21T00:00:00Z', 6_666_666_666n],
    [20_000_000_000n, '2026-11-30T23:59:59.999Z', 7n],
    [20_000_000_000n, '2026-12-01T00:00:00Z', 0n],
    [20_000_000_000n, '2026-12-05T00:00:00Z', 0n],
    [20_000_000_000n, '2026-10-30T00:00:00Z', 20_000_000_000n],
    [1n, '2026-11-01T00:00:00.001Z', 0n],
    [0n, '2026-11-11T00:00:00Z', 0n],
    [9_000_000_000_000_000n, '2026-11-02T00:00:00Z', 8_700_000_000_000_000n],
  ]
  test.each(vectors)('of %s nano-USD for November, at %s: %s', (price, when, rest) => {
    expect(restOf(price, november, at(when))).toBe(rest)
  })
})
