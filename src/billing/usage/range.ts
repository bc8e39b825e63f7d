/** Reads and bounds a range of days. */
import type { Millis } from '../../kernel/clock.ts'
import { refuse } from '../../kernel/refusal.ts'
import { parseDate, parseTime } from '../../kernel/time-text.ts'
import type { Period } from './log-range.ts'
import { dayMs, dayOf } from './usage.ts'

/** Days of one answer of sums. */
export const daysMax = 366
/** Days of sums without `from`: today and the 29 before. */
const defaultDays = 30

/** The texts of `from` and `to`, as typed. */
export type RangeTexts = { from?: string | undefined; to?: string | undefined }

/**
 * Reads `from` and `to`: an RFC 3339 time, or a date, which stands for its midnight (UTC) as `from`
 * and for its end as `to`. A time as `to` is not in the range itself; without `to` it has no end.
 * @throws Refusal 'invalid_request'
 */
export function readPeriod(texts: RangeTexts): Partial<Pick<Period, 'from'>> & { to: Millis } {
  const from = texts.from === undefined ? undefined : readEdge('from', texts.from)
  const to = texts.to === undefined ? Number.POSITIVE_INFINITY : readEdge('to', texts.to)
  if (from !== undefined && from >= to) refuseEdge('to', '"to" must be later than "from".')
  return { ...(from === undefined ? {} : { from }), to }
}

/**
 * The range of sums: the last 30 days unless something else was asked for.
 * @throws Refusal 'invalid_request' for more than 366 days.
 */
export function readSumsPeriod(texts: RangeTexts, now: Millis): Period {
  const { from, to } = readPeriod(texts)
  const end = Math.min(to, dayOf(now) + dayMs)
  const start = from ?? dayOf(end - 1) - (defaultDays - 1) * dayMs
  if (end - start > daysMax * dayMs) {
    refuseEdge('from', `Sums go over at most ${daysMax} days. Ask for a shorter range.`)
  }
  // Of a range that begins tomorrow nothing is there yet.
  return { from: start, to: Math.max(end, start) }
}

function readEdge(name: 'from' | 'to', text: string): Millis {
  const midnight = parseDate(text)
  const edge = midnight !== undefined && name === 'to' ? midnight + dayMs : midnight
  return (
    edge ??
    parseTime(text) ??
    refuseEdge(
      name,
      `"${name}" must be a date (2026-11-21) or an RFC 3339 time (2026-11-21T00:00:00Z). ` +
        'Write the "+" of an offset as %2B.',
    )
  )
}

function refuseEdge(param: string, message: string): never {
  refuse('invalid_request', { param, message })
}
