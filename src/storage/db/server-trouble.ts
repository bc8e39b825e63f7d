import type { StorageFault } from '../../kernel/storage-fault.ts'
import { type Pace, type Turns, turnMs } from './flight.ts'
import type { Storage } from './storage.ts'

/** How long without any write a slow one says that nothing can be stored, in turns. */
const quietTurns = 8000 / turnMs

/** How long nothing may have met a full disk until a write says that there is room, in turns. */
const roomTurns = 5000 / turnMs

/** Remembers what keeps a server from storing anything, as statements and probes meet it. */
export function watchTrouble(turns: Turns) {
  const listeners: ((trouble: StorageFault | undefined) => void)[] = []
  let trouble: StorageFault | undefined
  let wroteAt = turns.turn
  let metAt = turns.turn

  const become = (next: StorageFault | undefined): void => {
    const isNews = next?.reason !== trouble?.reason
    trouble = next
    if (isNews) for (const listener of listeners) listener(next)
  }

  return {
    storage: {
      trouble: () => trouble,
      onChange: (listener) => void listeners.push(listener),
      look: () => {},
    } satisfies Storage,
    met(fault: StorageFault, pace: Pace): void {
      // A slow read stops no write, and one row that another program holds only those that need it.
      const isLocal = pace !== 'write' || turns.turn - wroteAt < quietTurns
      if (fault.reason === 'storage_busy' && isLocal) return
      metAt = turns.turn
      // Whoever comes later is in no doubt: what they wanted was never begun.
      become(fault.withoutDoubt())
    },
    /** A COMMIT came through. */
    wrote(): void {
      wroteAt = turns.turn
      // On a full disk what needs no new page is stored all the while.
      const isOver = trouble?.reason !== 'storage_full' || turns.turn - metAt >= roomTurns
      if (trouble && isOver) become(undefined)
    },
    /** What a fresh connection met; undefined when it reached a server that takes writes. */
    probed(fault: StorageFault | undefined): void {
      if (trouble && isSeenByProbe(trouble)) become(fault)
    },
  }
}

/** Whether a probe can tell that it is over: what is full or busy only shows in a write. */
export const isSeenByProbe = ({ reason }: StorageFault): boolean =>
  reason !== 'storage_full' && reason !== 'storage_busy'
