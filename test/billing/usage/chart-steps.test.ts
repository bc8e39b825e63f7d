import { describe, expect, test } from 'bun:test'
import {
  formerOf,
  grainOf,
  stepAt,
  stepsOf,
  stretchesOf,
} from '../../../src/billing/usage/chart-steps.ts'
import { addWait, barOf, type Waits, waitAt } from '../../../src/billing/usage/first-tokens.ts'
import { piecesOf } from '../../../src/billing/usage/pieces.ts'
import { dateIn, dayAway, dayOfDate } from '../../../src/kernel/zone.ts'

const hour = 3_600_000
const berlin = 'Europe/Berlin'
const dayOf = (zone: string, date: string): number => dayOfDate(zone, Date.parse(date))

/** So many days of a zone from a date on. */
const daysFrom = (zone: string, date: string, days: number) => {
  const from = dayOf(zone, date)
  return { from, to: dayAway(zone, from, days) }
}

describe('the steps of a chart', () => {
  test.each([
    [1, 'hour', 24],
    [7, 'hour', 168],
    [8, 'day', 8],
    [92, 'day', 92],
    [93, 'week', 14],
    [366, 'week', 53],
  ] as const)('of %d days are by the %s', (days, grain, count) => {
    const period = daysFrom('UTC', '2026-01-05', days)
    expect(grainOf('UTC', period)).toBe(grain)
    expect(stepsOf('UTC', period).starts.length).toBe(count)
  })

  test.each([
    ['2026-03-29', 23],
    ['2026-10-25', 25],
    ['2026-10-26', 24],
  ] as const)('of %s in Berlin are %d hours', (date, hours) => {
    expect(stepsOf(berlin, daysFrom(berlin, date, 1)).starts.length).toBe(hours)
  })

  test('of days are each one date, also where the clocks change', () => {
    const { starts, end } = stepsOf(berlin, daysFrom(berlin, '2026-10-01', 31))
    expect(starts.map((at) => dateIn(berlin, at).slice(8)).join()).toBe(
      Array.from({ length: 31 }, (_, i) => String(i + 1).padStart(2, '0')).join(),
    )
    expect(dateIn(berlin, end)).toBe('2026-11-01')
  })

  test('of weeks begin on Monday, the first where the period does', () => {
    const { starts } = stepsOf('UTC', daysFrom('UTC', '2026-01-01', 100))
    expect(starts.slice(0, 3).map((at) => dateIn('UTC', at))).toEqual([
      '2026-01-01',
      '2026-01-05',
      '2026-01-12',
    ])
  })

  test('hold each moment once', () => {
    const steps = stepsOf(berlin, daysFrom(berlin, '2026-10-20', 10))
    for (let at = steps.starts[0] ?? 0, n = 0; at < steps.end; at += 0.5 * hour) {
      const i = stepAt(steps, at)
      expect([n, n + 1]).toContain(i)
      n = i
    }
    expect(stepAt(steps, (steps.starts[0] ?? 0) - 1)).toBe(-1)
    expect(stepAt(steps, steps.end)).toBe(-1)
  })

  test('a change of the clocks is a stretch of its own', () => {
    const lengths = (date: string) =>
      stretchesOf(stepsOf(berlin, daysFrom(berlin, date, 10))).map(({ length }) => length / hour)
    expect(lengths('2026-10-20')).toEqual([24, 25, 24])
    expect(lengths('2026-03-25')).toEqual([24, 23, 24])
    expect(lengths('2026-06-01')).toEqual([24])
  })

  test('the period before has as many days', () => {
    const period = daysFrom(berlin, '2026-10-20', 10)
    const former = formerOf(berlin, period)
    expect([dateIn(berlin, former.from), former.to]).toEqual(['2026-10-10', period.from])
    expect(formerOf('UTC', { from: 0, to: hour }).from).toBe(0)
  })
})

describe('what counted sums tell', () => {
  const by = { day: true, provider: false }
  test('days of UTC come from the sums of days, all others by the quarter of an hour', () => {
    const fine = (zone: string) =>
      piecesOf({ from: 0, to: 0, steps: stepsOf(zone, daysFrom(zone, '2026-06-01', 30)) }, by)
    expect(fine('UTC').pieces.map(({ fine }) => fine)).toEqual([false])
    expect(fine(berlin).pieces.length).toBe(4)
    expect(fine(berlin).pieces.every(({ fine }) => fine)).toBe(true)
    expect(fine(berlin).edges).toEqual([])
  })

  test('an edge within a day leaves less than a quarter of an hour to receipts', () => {
    const day = Date.parse('2026-06-01')
    const { pieces, edges } = piecesOf({ from: day + hour + 1, to: day + 24 * hour + 5 }, by)
    expect(pieces).toEqual([
      {
        from: day + 1.25 * hour,
        to: day + 24 * hour,
        origin: day,
        length: 24 * hour,
        fine: true,
      },
    ])
    expect(edges).toEqual([
      { from: day + hour + 1, to: day + 1.25 * hour },
      { from: day + 24 * hour, to: day + 24 * hour + 5 },
    ])
  })
})

describe('the wait for the first token', () => {
  const waited = (ms: number) => barOf({ kind: 'chat', startedAt: 1000, firstByteAt: 1000 + ms })

  test('an embedding has none, and neither has a chat without a token', () => {
    expect(barOf({ kind: 'embedding', startedAt: 0, firstByteAt: 5 })).toBeUndefined()
    expect(barOf({ kind: 'chat', startedAt: 0, firstByteAt: null })).toBeUndefined()
    expect(barOf({ kind: 'chat', startedAt: 10, firstByteAt: 5 })).toBe(0)
  })

  test('its shares are told within a tenth', () => {
    const waits: Waits = new Map()
    for (let ms = 1; ms <= 1000; ms++) addWait(waits, waited(ms) ?? 0)
    for (const share of [0.5, 0.9, 0.95]) {
      const told = waitAt(waits, share) ?? 0
      expect(Math.abs(told / (share * 1000) - 1)).toBeLessThan(0.1)
    }
    expect(waitAt(new Map(), 0.5)).toBeUndefined()
  })
})
