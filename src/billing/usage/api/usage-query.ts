/** Reads the range and grouping of a usage request. */
import type { Millis } from '../../../kernel/clock.ts'
import { readPeriod } from '../../../kernel/period.ts'
import { refuse } from '../../../kernel/refusal.ts'
import { readChoice, readInteger, readText } from '../../../web/http/query.ts'
import type { ExportWish } from '../export.ts'
import { formatNames } from '../formats.ts'
import { readSumsPeriod } from '../range.ts'
import { type Dimension, dimensions, type UsageWish } from '../sum.ts'
import { dayMs, dayOf } from '../usage.ts'

/**
 * What `GET /v1/usage` and the dashboard are asked: `from`, `to`, `group_by` (by day if absent).
 * @throws Refusal 'invalid_request'
 */
export const readSumsQuery = (
  query: URLSearchParams,
  now: Millis,
): Pick<UsageWish, 'from' | 'to' | 'groupBy'> => ({
  ...readSumsPeriod(readTexts(query), now),
  groupBy: readGroupBy(query),
})

/** Ranges up to today that are one click away, in days. */
export const rangeDays = ['7', '30', '90'] as const
export type RangeDays = (typeof rangeDays)[number]

/** Pages of one answer of the dashboard: as many as there can be rows. */
const pagesMax = 100

export type ReportQuery = Pick<UsageWish, 'from' | 'to' | 'groupBy'> & { page: number }

/**
 * What the dashboard is asked: {@link readSumsQuery}, or the last `days` instead of `from` and
 * `to`, and the `page` of the rows. A field that was left empty asks for nothing.
 * @throws Refusal 'invalid_request'
 */
export function readReportQuery(query: URLSearchParams, now: Millis): ReportQuery {
  const filled = new URLSearchParams([...query].filter(([, value]) => value !== ''))
  const page = readInteger(filled, 'page', { min: 1, max: pagesMax }) ?? 1
  const days = readChoice(filled, 'days', rangeDays)
  if (days === undefined) return { ...readSumsQuery(filled, now), page }
  if (filled.has('from') || filled.has('to')) {
    const message = 'Ask for the last "days", or for "from" and "to", not for both.'
    refuse('invalid_request', { param: 'days', message })
  }
  const to = dayOf(now) + dayMs
  return { from: to - Number(days) * dayMs, to, groupBy: readGroupBy(filled), page }
}

/**
 * What an export is asked: `format`, `from`, `to`, `as_of`; without them all there is, as CSV.
 * @throws Refusal 'invalid_request'
 */
export function readExportQuery(
  query: URLSearchParams,
): Pick<ExportWish, 'from' | 'to' | 'format' | 'asOf'> {
  const { from = 0, to } = readPeriod(readTexts(query))
  return {
    from,
    to,
    format: readChoice(query, 'format', formatNames) ?? 'csv',
    asOf: readInteger(query, 'as_of', { min: 0, max: Number.MAX_SAFE_INTEGER }),
  }
}

const readTexts = (query: URLSearchParams) => ({
  from: readText(query, 'from'),
  to: readText(query, 'to'),
})

function readGroupBy(query: URLSearchParams): Dimension[] {
  const text = readText(query, 'group_by') ?? 'day'
  const wanted = text.split(',').map((word) => dimensions.find((one) => one === word))
  const known = wanted.filter((one) => one !== undefined)
  if (known.length === wanted.length && new Set(known).size === known.length) return known
  const message = `"group_by" must be one or more of ${dimensions.join(', ')}, with commas.`
  refuse('invalid_request', { param: 'group_by', message })
}
