/** The job that counts new receipts of the log into all sums. */
import type { Clock } from '../../kernel/clock.ts'
import type { Lease } from '../db/engine/lease.ts'
import type { CountStore } from './store.ts'

/** Receipts of one transaction: few, because ending runs wait for it. */
const batchMax = 256
/** Batches of one tick. With a tick a second that is five times the peak rate of a node. */
const batchesMax = 40
/** How often the lease is renewed, in ms. */
const renewMs = 3000

/** Catches up by 10,000 receipts a tick; one node counts at a time. */
export function receiptCounter(deps: {
  counts: CountStore
  clock: Pick<Clock, 'monotonic'>
}): () => Promise<void> {
  const { counts, clock } = deps
  let lease: Lease | undefined
  let renewedAt = Number.NEGATIVE_INFINITY

  return async () => {
    if (!(await counts.waits())) return
    if (!lease || clock.monotonic() - renewedAt > renewMs) {
      renewedAt = clock.monotonic()
      lease = await counts.takeLease()
    }
    if (!lease) return
    try {
      for (let batch = 0; batch < batchesMax; batch++) {
        if ((await counts.count(lease, batchMax)) < batchMax) return
      }
    } catch (error) {
      lease = undefined
      throw error
    }
  }
}
