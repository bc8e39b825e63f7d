/** Says in headers what a refusal means to a client that may try again. */

import type { Refusal } from '../../kernel/refusal.ts'
import { retryHeaders } from '../../kernel/retry-headers.ts'

/** Waiting helps: the run or the rate limit that stands in the way ends by itself. */
const passing = new Set([408, 409, 429])

/** Whether official clients may send the same again: undefined leaves it to them. */
export const retryAdvice = (status: number): Record<string, string> =>
  status >= 400 && status < 500 && !passing.has(status) ? { 'x-should-retry': 'false' } : {}

/**
 * The headers of a refusal: what to send instead, and whether trying again can help. Its own win.
 */
export function refusalHeaders({ type, status, detail }: Refusal): Record<string, string> {
  return {
    ...(type === 'invalid_key' ? { 'www-authenticate': 'Bearer' } : {}),
    ...retryAdvice(status),
    ...(status === 429 ? retryHeaders(1000) : {}),
    ...(type === 'idempotency_in_progress' ? { 'retry-after': '1' } : {}),
    ...detail.headers,
  }
}
