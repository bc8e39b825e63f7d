/** Bounds a range of days. */
import type { Millis } from '../../kernel/clock.ts'
import { type RangeTexts, readPeriod } from '../../kernel/period.ts'
import { refuseField } from '../../kernel/refusal.ts'
import type { Period } from './log-range.ts'
import { dayMs, dayOf } from './usage.ts'

/** Days of one answer of sums. */
export const daysMax = 366
/** Days of sums without `from`: today and the 29 before. */
const defaultDays = 30

/**
 * The range of sums: the last 30 days unless something else was asked for.
 * @throws Refusal 'invalid_request' for more than 366 days.
 */
export function readSumsPeriod(texts: RangeTexts, now: Millis): Period {
  const { from, to } = readPeriod(texts)
  const end = Math.min(to, dayOf(now) + dayMs)
  const start = from ?? dayOf(end - 1) - (defaultDays - 1) * dayMs
  if (end - start > daysMax * dayMs) {
    refuseField('from', `Sums go over at most ${daysMax} days. Ask for a shorter range.`)
  }
  // Of a range that begins tomorrow nothing is there yet.
  return { from: start, to: Math.max(end, start) }
}
