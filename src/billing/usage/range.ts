/** Bounds a range of days. */
import type { Millis } from '../../kernel/clock.ts'
import { type RangeTexts, readPeriod } from '../../kernel/period.ts'
import { refuseField } from '../../kernel/refusal.ts'
import { dayAway, utcZone, type ZoneName } from '../../kernel/zone.ts'
import type { Period } from './log-range.ts'
import { dayMs } from './usage.ts'

/** Days of one answer of sums. */
export const daysMax = 366
const hourMs = 3_600_000
/** Days of sums without `from`: today and the 29 before. */
const defaultDays = 30

/**
 * The range of sums: the last 30 days unless something else was asked for.
 * @throws Refusal 'invalid_request' for more than 366 days.
 */
export function readSumsPeriod(texts: RangeTexts, now: Millis, zone: ZoneName = utcZone): Period {
  const { from, to } = readPeriod(texts, zone)
  const end = Math.min(to, dayAway(zone, now, 1))
  const start = from ?? dayAway(zone, end - 1, 1 - defaultDays)
  // A change of the clocks makes a day an hour longer.
  if (end - start > daysMax * dayMs + (zone === utcZone ? 0 : hourMs)) {
    refuseField('from', `Sums go over at most ${daysMax} days. Ask for a shorter range.`)
  }
  // Of a range that begins tomorrow nothing is there yet.
  return { from: start, to: Math.max(end, start) }
}
