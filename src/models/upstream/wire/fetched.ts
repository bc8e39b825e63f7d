/** Asks model servers through a proxy. */

import type { Wire } from '../http.ts'
import { request } from '../http.ts'
import { retryAfterIn } from '../retry-after.ts'

/** A wire by `fetch`, whose connections serve one request each: its pool knows no accounts. */
export function openFetched(url: string): Wire {
  return {
    async ask({ headers, body, signal, mark, limits }) {
      // `fetch` does not tell when it connected.
      if (mark && !signal.aborted) mark.isSent = true
      const answer = await request({ url, headers, body, signal, limits, keepalive: false })
      return {
        ...answer,
        retryAfterMs: retryAfterIn((name) => answer.headers.get(name)),
        async flow(take) {
          for (;;) {
            const bytes = await answer.read()
            if (!bytes || !(await take(bytes))) return
          }
        },
      }
    },
  }
}
