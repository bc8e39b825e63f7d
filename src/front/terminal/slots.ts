/** Limits concurrent asks, per client and in total. */

import { refuse } from '../../kernel/refusal.ts'
import { retryHeaders } from '../../kernel/retry-headers.ts'

/** Concurrent asks of one client, and of all. */
export const slotsOfClient = 2
export const slotsOfAll = 8

/** The ask slots of this process. */
export type Slots = {
  /**
   * Takes a slot and returns the function that frees it.
   * @throws Refusal `concurrency_limited` if the client has two, `unavailable` if all are taken
   */
  take(network: string): () => void
}

export function makeSlots(): Slots {
  const busy = new Map<string, number>()
  let taken = 0
  return {
    take(network) {
      const own = busy.get(network) ?? 0
      if (own >= slotsOfClient) {
        const message = 'Your network already has two asks running. Wait for one to end.'
        refuse('concurrency_limited', message)
      }
      if (taken >= slotsOfAll) {
        refuse('unavailable', {
          message: 'The terminal is at capacity. Try again in a few seconds.',
          headers: retryHeaders(2000),
        })
      }
      taken++
      busy.set(network, own + 1)
      let isLeft = false
      return () => {
        if (isLeft) return
        isLeft = true
        taken--
        const left = (busy.get(network) ?? 1) - 1
        if (left > 0) busy.set(network, left)
        else busy.delete(network)
      }
    },
  }
}
