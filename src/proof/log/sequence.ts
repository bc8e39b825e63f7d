import type { Clock } from '../../kernel/clock.ts'
import type { Log } from '../../kernel/log.ts'
import { LostLease } from '../../kernel/lost-lease.ts'
import { StorageFault } from '../../kernel/storage-fault.ts'
import type { Lease } from '../../storage/db/lease.ts'
import type { LogStore } from './store.ts'

/** Numbers the receipts that wait, in the order of their ids, without a gap. */
export type Sequencer = {
  /** Something was settled: number it within milliseconds, together with its neighbours. */
  wake(): void
  /** Another node has something to be numbered: the same, if this one is to do it. */
  hear(): void
  /** Numbers all that waits now; returns without doing it where another node holds the lease. */
  flush(): Promise<void>
  stop(): Promise<void>
}

/** How long a settle may wait for neighbours to be numbered with, in ms. */
const gatherMs = 5
/** Receipts of one transaction: short, because settles wait for it. */
const batchMax = 256
/** How often the lease is renewed, in ms; a fraction of its life. */
const renewMs = 3000

export function sequencer(deps: {
  store: LogStore
  log: Log
  clock: Pick<Clock, 'monotonic'>
}): Sequencer {
  const { store, log, clock } = deps
  let lease: Lease | undefined
  let renewedAt = Number.NEGATIVE_INFINITY
  let timer: ReturnType<typeof setTimeout> | undefined
  let running: Promise<void> | undefined
  let next: Promise<void> | undefined
  let stopped = false

  const numberAll = async (): Promise<void> => {
    if (!lease || clock.monotonic() - renewedAt > renewMs) {
      lease = await store.takeLease()
      renewedAt = clock.monotonic()
    }
    if (!lease) return store.tellHolder()
    while ((await store.number(lease, batchMax)) === batchMax);
  }

  const pass = (): Promise<void> => {
    running = numberAll()
      .catch((error: unknown) => {
        if (!(error instanceof LostLease)) throw error
        // The clock jumped, or this process slept: nobody need have taken it meanwhile.
        lease = undefined
        return numberAll()
      })
      .catch((error: unknown) => {
        lease = undefined
        // Storage that takes nothing is told once, where that is known.
        if (stopped || error instanceof StorageFault) return
        log.error('log.sequence_failed', error)
      })
      .finally(() => {
        running = undefined
      })
    return running
  }

  // One pass at a time. Callers that come during one share the next, which sees their receipts.
  const flush = (): Promise<void> => {
    if (!running) return pass()
    next ??= running.then(() => {
      next = undefined
      return pass()
    })
    return next
  }

  const wake = (): void => {
    if (timer || stopped) return
    timer = setTimeout(() => {
      timer = undefined
      void flush()
    }, gatherMs)
  }

  return {
    wake,
    hear() {
      // Who has no lease would only tell it again.
      if (lease) wake()
    },
    flush,
    async stop() {
      stopped = true
      clearTimeout(timer)
      await (next ?? running)
    },
  }
}
