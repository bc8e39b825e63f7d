/** An upstream with a limited number of concurrent requests. */
import { onEnd } from './ends.ts'
import type { Slots } from './slots.ts'
import type { Upstream } from './upstream.ts'

/**
 * An upstream that takes so many requests at once and no more: each holds a place from before its
 * first byte goes out until its answer ends in any way.
 */
export function limitedUpstream(upstream: Upstream, slots: Slots): Upstream {
  return {
    id: upstream.id,
    load: () => ({ taken: slots.taken, waiting: slots.waiting, most: slots.most }),
    async complete(call) {
      // Awaited only when it waits: a promise a request is not free.
      const place = slots.take(call.account, call.signal)
      const release = place instanceof Promise ? await place : place
      try {
        return await upstream.complete(call)
      } finally {
        release()
      }
    },
    async stream(call) {
      const place = slots.take(call.account, call.signal)
      const release = place instanceof Promise ? await place : place
      try {
        return onEnd(await upstream.stream(call), release)
      } catch (error) {
        release()
        throw error
      }
    },
  }
}
