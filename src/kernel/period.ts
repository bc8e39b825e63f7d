/** Reads the two ends of a range of time. */
import type { Millis } from './clock.ts'
import { refuse } from './refusal.ts'
import { parseDate, parseTime } from './time-text.ts'
import { dayOfDate, utcZone, type ZoneName } from './zone.ts'

const dayMs = 86_400_000

/** The texts of `from` and `to`, as typed. */
export type RangeTexts = { from?: string | undefined; to?: string | undefined }

/**
 * Reads `from` and `to`: an RFC 3339 time, or a date, which stands for its midnight as `from` and
 * for its end as `to`. A time as `to` is not in the range itself; without `to` it has no end.
 * @throws Refusal 'invalid_request'
 */
export function readPeriod(
  texts: RangeTexts,
  zone: ZoneName = utcZone,
): { from?: Millis; to: Millis } {
  const from = texts.from === undefined ? undefined : readEdge('from', texts.from, zone)
  const to = texts.to === undefined ? Number.POSITIVE_INFINITY : readEdge('to', texts.to, zone)
  if (from !== undefined && from >= to) refuseEdge('to', '"to" must be later than "from".')
  return { ...(from === undefined ? {} : { from }), to }
}

function readEdge(name: 'from' | 'to', text: string, zone: ZoneName): Millis {
  const date = parseDate(text)
  if (date !== undefined && date < 0) refuseEdge(name, `"${name}" must be in 1970 or later.`)
  const edge = date !== undefined && name === 'to' ? date + dayMs : date
  return (
    (edge === undefined ? undefined : dayOfDate(zone, edge)) ??
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
