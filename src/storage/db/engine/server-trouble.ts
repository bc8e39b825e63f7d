/** Decides from statements and probes whether a PostgreSQL server stores anything. */
import type { StorageFault } from '../../../kernel/storage-fault.ts'
import { type Pace, type TurnCount, turnMs } from '../sql/pending-work.ts'
import { isTableLock } from './server-probe.ts'
import type { Storage } from './storage.ts'

/** After this long without a write a slow one counts as a fault of the server, in turns. */
const quietTurns = 8000 / turnMs

/** How long one refused connection counts as too few of them, in turns. */
const shortTurns = 30_000 / turnMs

/** How long after the last full disk a write ends that fault, in turns. */
const roomTurns = 5000 / turnMs

export function watchTrouble(turns: TurnCount) {
  const listeners: ((trouble: StorageFault | undefined) => void)[] = []
  let trouble: StorageFault | undefined
  let wroteAt = turns.turn
  let metAt = turns.turn
  let shortAt = Number.NEGATIVE_INFINITY

  const become = (next: StorageFault | undefined): void => {
    const isNews = next?.reason !== trouble?.reason
    trouble = next
    if (isNews) for (const listener of listeners) listener(next)
  }

  return {
    storage: {
      trouble: () => trouble,
      isShort: () => turns.turn - shortAt < shortTurns,
      onChange: (listener) => void listeners.push(listener),
      look: () => {},
    } satisfies Storage,
    met(fault: StorageFault, pace: Pace): void {
      // A slow read stops no write, and one locked row only the writes that need it.
      const isLocal = pace !== 'write' || turns.turn - wroteAt < quietTurns
      if (fault.reason === 'storage_busy' && isLocal) return
      // Only a probe tells that a table is free again.
      if (fault.reason === 'storage_busy' && trouble && isTableLock(trouble)) return
      metAt = turns.turn
      // Later commands are not in doubt: they never began.
      become(fault.withoutDoubt())
    },
    /** Takes that one connection beside those of the pool was refused. */
    short(): void {
      shortAt = turns.turn
    },
    wrote(): void {
      wroteAt = turns.turn
      // A full disk still takes writes that need no new page.
      const isOver = trouble?.reason !== 'storage_full' || turns.turn - metAt >= roomTurns
      if (trouble && isOver && !isTableLock(trouble)) become(undefined)
    },
    /** Takes the result of a probe: its fault, or undefined if the server takes writes. */
    probed(fault: StorageFault | undefined): void {
      // That a server takes writes again only a write of the pool shows.
      if (!fault && trouble?.reason === 'storage_read_only') return
      if (fault && isTableLock(fault)) become(fault)
      else if (trouble && isSeenByProbe(trouble)) become(fault)
    },
  }
}

/** Whether a probe can tell that a fault is over; only a write shows a full or busy server. */
export const isSeenByProbe = (fault: StorageFault): boolean =>
  isTableLock(fault) || (fault.reason !== 'storage_full' && fault.reason !== 'storage_busy')
