/** Declares the query of margins, for pages and programs. */
import type { Millis } from '../../../kernel/clock.ts'
import * as q from '../../../web/http/query-fields.ts'
import { daysOf, lastDays } from '../../usage/api/usage-query.ts'
import type { Period } from '../../usage/log-range.ts'
import { type MarginGroup, marginGroups } from '../margin.ts'
import { readMarginDays } from '../margins.ts'

export const marginQuery = q.declareQuery({
  by: q.choice('Default: model.', marginGroups),
  days: lastDays,
  from: q.text('First day (UTC). Default: 29 days ago.', '2026-11-01'),
  to: q.text('Last day (UTC). Default: today.', '2026-11-21'),
})

/**
 * The groups, and the range: `from` and `to`, or the last `days`. An empty field asks for nothing.
 * @throws Refusal 'invalid_request'
 */
export function readMarginQuery(query: URLSearchParams, now: Millis): Period & { by: MarginGroup } {
  const { by = 'model', ...range } = marginQuery.readForm(query)
  return { ...(daysOf(range, now) ?? readMarginDays(range, now)), by }
}
