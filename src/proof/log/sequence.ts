/** Numbers ended runs in the background: gives each the next place in the log. */
import type { Clock } from '../../kernel/clock.ts'
import type { Log } from '../../kernel/log.ts'
import { LostLease } from '../../kernel/lost-lease.ts'
import { StorageFault } from '../../kernel/storage-fault.ts'
import type { Lease } from '../../storage/db/engine/lease.ts'
import type { LogStore } from './store.ts'

/** Numbers waiting receipts in the order of their ids, without gaps. */
export type Sequencer = {
  /** A run was settled: it is numbered within milliseconds, batched with others. */
  wake(): void
  /** Another node has a run to number: does the same if this node holds the lease. */
  hear(): void
  /** Takes the lease if it is free, and numbers all waiting runs; else tells who holds it. */
  flush(): Promise<void>
  stop(): Promise<void>
}

/** How long a settled run waits for others to share its batch, in ms. */
const gatherMs = 25
/** Receipts of one transaction, about; it is short because settlements wait for it. */
const batchMax = 256
/** How often the lease is renewed, in ms; a fraction of its term. */
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

  // Whether the next pass may ask for a lease that another node held a moment ago. Each attempt
  // locks the row that the holder renews: under load every ended run would be one.
  let mayAsk = true

  const numberAll = async (): Promise<void> => {
    if (lease ? clock.monotonic() - renewedAt > renewMs : mayAsk) {
      mayAsk = false
      lease = await store.takeLease()
      renewedAt = clock.monotonic()
    }
    if (!lease) return store.tellHolder()
    while ((await store.number(lease, batchMax)) >= batchMax);
  }

  const pass = (): Promise<void> => {
    running = numberAll()
      .catch((error: unknown) => {
        if (!(error instanceof LostLease)) throw error
        // The clock jumped or the process was suspended; the lease may still be free.
        lease = undefined
        mayAsk = true
        return numberAll()
      })
      .catch((error: unknown) => {
        lease = undefined
        // A storage fault is logged once, where it is detected.
        if (stopped || error instanceof StorageFault) return
        log.error('log.sequence_failed', error)
      })
      .finally(() => {
        running = undefined
      })
    return running
  }

  // One pass at a time. Callers that arrive during a pass share the next one.
  const passOnce = (): Promise<void> => {
    if (!running) return pass()
    next ??= running.then(() => {
      next = undefined
      return pass()
    })
    return next
  }
  const flush = (): Promise<void> => {
    mayAsk = true
    return passOnce()
  }

  const wake = (): void => {
    if (timer || stopped) return
    timer = setTimeout(() => {
      timer = undefined
      void passOnce()
    }, gatherMs)
  }

  return {
    wake,
    hear() {
      // Without the lease this node would only notify the others again.
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
