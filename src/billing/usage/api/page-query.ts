/** Declares the query of the page of usage: its metric, its range, its groups and its key. */
import type { Millis } from '../../../kernel/clock.ts'
import { isId } from '../../../kernel/ids.ts'
import { refuse } from '../../../kernel/refusal.ts'
import { dayAway, type ZoneName } from '../../../kernel/zone.ts'
import * as q from '../../../web/http/query-fields.ts'
import { sampleIds } from '../../../web/http/shape.ts'
import { wholeDays } from '../chart-steps.ts'
import type { Period } from '../log-range.ts'
import { metrics } from '../metric.ts'
import { readSumsPeriod } from '../range.ts'
import type { ReportRequest } from '../report.ts'
import { dimensions, type Grouping } from '../sum.ts'
import { rangeDays } from './usage-query.ts'

const groupings: readonly Grouping[] = [...dimensions, 'provider']

/** Pages of rows: as many as there can be. */
const pagesMax = 100

/** The fields of the form, without those of dates. */
const shared = {
  metric: q.choice('What the chart shows.', metrics),
  days: q.choice('The last days, or the dates of `from` and `to`.', [...rangeDays, 'dates'], {
    label: 'Last',
    first: '30 days',
    words: { 7: '7 days', 90: '90 days', 365: '365 days', dates: 'Dates …' },
  }),
  group_by: q.parsed('What it is split by.', 'model', readGrouping, { label: 'By' }),
  key: q.parsed(
    'Only the usage of a key.',
    sampleIds.key,
    (id, param) =>
      isId('key', id)
        ? id
        : refuse('invalid_request', { param, message: '"key" must be the id of a key.' }),
    { label: 'Key', placeholder: 'key_…' },
  ),
  page: q.whole('The page of the rows.', 1, { minimum: 1, maximum: pagesMax }),
}

export const recentQuery = q.declareQuery(shared)

/** The same with its dates; in the person's zone. */
export const datedQuery = q.declareQuery({
  ...shared,
  from: q.text('The first day.', '2026-08-01', { label: 'From', isDay: true }),
  to: q.text('The last day.', '2026-08-31', { label: 'To', isDay: true }),
})

export type PageQuery = Pick<ReportRequest, 'from' | 'to' | 'metric' | 'groupBy' | 'page'> & {
  key: string | undefined
}

/** Whether dates bound the range, and not a number of days. */
export const isDated = (query: URLSearchParams): boolean =>
  query.get('days') === 'dates' ||
  (!query.get('days') && Boolean(query.get('from') || query.get('to')))

/**
 * Reads the query of the page. A field that was left empty asks for nothing.
 * @throws Refusal 'invalid_request'
 */
export function readPageQuery(query: URLSearchParams, now: Millis, zone: ZoneName): PageQuery {
  const {
    metric = 'spend',
    days,
    group_by: groupBy,
    key,
    page = 1,
    ...dates
  } = datedQuery.readForm(query)
  const period =
    days === undefined || days === 'dates'
      ? wholeDays(zone, readSumsPeriod(dates, now, zone))
      : lastDaysOf(zone, Number(days), now)
  return { ...period, metric, groupBy, key, page }
}

const lastDaysOf = (zone: ZoneName, days: number, now: Millis): Period => ({
  from: dayAway(zone, now, 1 - days),
  to: dayAway(zone, now, 1),
})

function readGrouping(text: string, param: string): Grouping[] {
  const wanted = text.split(',').map((word) => groupings.find((one) => one === word))
  const known = wanted.filter((one) => one !== undefined)
  if (known.length === wanted.length && new Set(known).size === known.length) return known
  const message = `"group_by" must be one or more of ${groupings.join(', ')}, with commas.`
  return refuse('invalid_request', { param, message })
}
