import { readChoice, readInteger, readText } from '../http/query.ts'
import type { Millis } from '../kernel/clock.ts'
import { refuse } from '../kernel/refusal.ts'
import type { ExportWish } from './export.ts'
import { formNames } from './forms.ts'
import { readPeriod, readSumsPeriod } from './range.ts'
import { type Dimension, dimensions, type UsageWish } from './sum.ts'

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
    format: readChoice(query, 'format', formNames) ?? 'csv',
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
