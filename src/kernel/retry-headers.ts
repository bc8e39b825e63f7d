/** Writes when a refused request may be sent again. */

/** `retry-after` in whole seconds, rounded up, and `retry-after-ms`. */
export function retryHeaders(retryAfterMs: number): Record<string, string> {
  return {
    'retry-after': String(Math.max(1, Math.ceil(retryAfterMs / 1000))),
    'retry-after-ms': String(Math.max(1, Math.ceil(retryAfterMs))),
  }
}
