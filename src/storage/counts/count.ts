import type { Clock } from '../../kernel/clock.ts'
import type { Lease } from '../db/lease.ts'
import type { CountStore } from './store.ts'

/** Receipts of one transaction: short, because settles wait for it. */
const batchMax = 256
/** Batches of one tick: with a tick a second five times what a node settles at its best. */
const batchesMax = 40
/** How often the lease is renewed, in ms; a fraction of its life. */
const renewMs = 3000

/**
 * The job that counts receipts into all sums that are kept of them. Without a new receipt it looks
 * at one index and is done; behind, it catches up by 10,000 a tick. Of several nodes one counts.
 */
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
