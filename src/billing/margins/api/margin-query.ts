/** Reads what a page or a program asks of margins. */
import type { Millis } from '../../../kernel/clock.ts'
import { refuse } from '../../../kernel/refusal.ts'
import { readChoice, readText } from '../../../web/http/query.ts'
import { rangeDays } from '../../usage/api/usage-query.ts'
import type { Period } from '../../usage/log-range.ts'
import { dayMs, dayOf } from '../../usage/usage.ts'
import { type MarginGroup, marginGroups } from '../margin.ts'
import { readMarginDays } from '../margins.ts'

/**
 * `by` (model if absent), and `from` and `to` or the last `days`. An empty field asks for nothing.
 * @throws Refusal 'invalid_request'
 */
export function readMarginQuery(query: URLSearchParams, now: Millis): Period & { by: MarginGroup } {
  const filled = new URLSearchParams([...query].filter(([, value]) => value !== ''))
  const by = readChoice(filled, 'by', marginGroups) ?? 'model'
  const days = readChoice(filled, 'days', rangeDays)
  const texts = { from: readText(filled, 'from'), to: readText(filled, 'to') }
  if (days === undefined) return { ...readMarginDays(texts, now), by }
  if (texts.from !== undefined || texts.to !== undefined) {
    const message = 'Ask for the last "days", or for "from" and "to", not for both.'
    refuse('invalid_request', { param: 'days', message })
  }
  const to = dayOf(now) + dayMs
  return { from: to - Number(days) * dayMs, to, by }
}
