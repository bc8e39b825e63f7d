/** Declares the queries of usage: its range, its groups and its files. */
import type { Millis } from '../../../kernel/clock.ts'
import { type RangeTexts, readPeriod } from '../../../kernel/period.ts'
import { refuse } from '../../../kernel/refusal.ts'
import * as q from '../../../web/http/query-fields.ts'
import type { ExportRequest } from '../export.ts'
import { formatNames } from '../formats.ts'
import type { Period } from '../log-range.ts'
import { readSumsPeriod } from '../range.ts'
import { type Dimension, dimensions, type UsageRequest } from '../sum.ts'
import { dayMs, dayOf } from '../usage.ts'

const rangeText = (about: string, example: string) =>
  q.text(`${about} A date (UTC, whole) or an RFC 3339 time.`, example)

/** The query of `GET /v1/usage`. */
export const usageQuery = q.declareQuery({
  from: rangeText('The start.', '2026-08-01'),
  to: rangeText('The end, a day included.', '2026-08-31'),
  group_by: q.parsed(
    `One or more of ${dimensions.join(', ')}, with commas.`,
    'day,model',
    readGroupBy,
  ),
})

/**
 * The range and the groups; by day if absent.
 * @throws Refusal 'invalid_request'
 */
export function readSumsQuery(
  query: URLSearchParams,
  now: Millis,
): Pick<UsageRequest, 'from' | 'to' | 'groupBy'> {
  const { group_by: groupBy = ['day'], ...range } = usageQuery.read(query)
  return { ...readSumsPeriod(range, now), groupBy }
}

/** Ranges up to today that are one click away, in days. */
export const rangeDays = ['7', '30', '90', '365'] as const
export const lastDays = q.choice('The last days, in place of `from` and `to`.', rangeDays)

/** Pages of one answer of the dashboard: as many as there can be rows. */
const pagesMax = 100

/** The query of the dashboard: {@link usageQuery}, the last days, and a page of the rows. */
export const reportQuery = q.declareQuery({
  ...usageQuery.fields,
  days: lastDays,
  page: q.whole('Which page of the rows.', 1, { minimum: 1, maximum: pagesMax }),
})

export type ReportQuery = Pick<UsageRequest, 'from' | 'to' | 'groupBy'> & { page: number }

/**
 * What the dashboard asks for. A field that was left empty asks for nothing.
 * @throws Refusal 'invalid_request'
 */
export function readReportQuery(query: URLSearchParams, now: Millis): ReportQuery {
  const { page = 1, group_by: groupBy = ['day'], ...range } = reportQuery.readForm(query)
  return { ...(daysOf(range, now) ?? readSumsPeriod(range, now)), groupBy, page }
}

type Range = RangeTexts & { days?: (typeof rangeDays)[number] | undefined }

/** The last days up to today; undefined where none are asked for. */
export function daysOf({ days, from, to }: Range, now: Millis): Period | undefined {
  if (days === undefined) return undefined
  if (from !== undefined || to !== undefined) {
    const message = 'Ask for the last "days", or for "from" and "to", not for both.'
    refuse('invalid_request', { param: 'days', message })
  }
  const end = dayOf(now) + dayMs
  return { from: end - Number(days) * dayMs, to: end }
}

/** The query of `GET /v1/usage/export`. */
export const exportQuery = q.declareQuery({
  format: q.choice('`focus` is FinOps FOCUS 1.2.', formatNames),
  from: rangeText('The start; default: all there is.', '2026-08-01'),
  to: rangeText('The end.', '2026-08-31'),
  as_of: q.whole('Leaves of the log to go up to.', 12, { minimum: 0 }),
})

/**
 * What an export has; without a query all there is, as CSV.
 * @throws Refusal 'invalid_request'
 */
export function readExportQuery(
  query: URLSearchParams,
): Pick<ExportRequest, 'from' | 'to' | 'format' | 'asOf'> {
  const { format = 'csv', as_of: asOf, ...range } = exportQuery.read(query)
  const { from = 0, to } = readPeriod(range)
  return { from, to, format, asOf }
}

function readGroupBy(text: string, param: string): Dimension[] {
  const wanted = text.split(',').map((word) => dimensions.find((one) => one === word))
  const known = wanted.filter((one) => one !== undefined)
  if (known.length === wanted.length && new Set(known).size === known.length) return known
  const message = `"group_by" must be one or more of ${dimensions.join(', ')}, with commas.`
  return refuse('invalid_request', { param, message })
}
