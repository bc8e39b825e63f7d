/** Finds the ended runs that wait for their places in the log; remembers those of this process. */
import type { Db } from '../../../storage/db/engine/db.ts'
import type { EndedRun, UnnumberedRow } from '../../../storage/db/schema/schema.ts'
import { findFields, type Work } from '../../../storage/db/sql/query-steps.ts'

/** An ended run; its place is set when it has one. */
export type WaitingReceipt = Pick<EndedRun, 'id' | 'digest' | 'logPlace'>

type EndedReceipt = Pick<EndedRun, 'id' | 'digest' | 'finishedAt'>

/** The most that are remembered: a run waits for milliseconds. */
const most = 4096

export type WaitingRuns = {
  /** Remembers runs that this process ended, after their COMMIT, so that none is read again. */
  note(ended: readonly EndedRun[]): void
  /** These runs in the order of their ends. */
  find(ids: readonly string[]): Work<WaitingReceipt[]>
  /** Forgets runs that have their places. */
  drop(placed: readonly Pick<EndedRun, 'id'>[]): void
}

/** A database that went back may end a run again and otherwise: a lost connection forgets all. */
export function waitingRuns(db: Db): WaitingRuns {
  const known = new Map<string, EndedReceipt>()
  const forget = (): void => known.clear()
  db.onForeignWrite(forget)
  db.onConnectionLost(forget)
  return {
    note(ended) {
      // A node without the sequencer's lease never places its runs: the map is emptied when full.
      if (known.size + ended.length > most) forget()
      for (const { id, digest, finishedAt, logPlace } of ended) {
        if (logPlace === null) known.set(id, { id, digest, finishedAt })
      }
    },
    *find(ids) {
      // Both at once: a run that is noted while the others are read must not be found twice.
      const remembered = ids.flatMap((id) => known.get(id) ?? [])
      const unknown = ids.filter((id) => !known.has(id))
      const fields = ['id', 'digest', 'finishedAt'] as const
      const read: EndedReceipt[] = yield* findFields(db.tables.runs, fields, { id: unknown })
      return [...remembered, ...read]
        .sort(byEnd)
        .map(({ id, digest }) => ({ id, digest, logPlace: null }))
    },
    drop(placed) {
      for (const { id } of placed) known.delete(id)
    },
  }
}

const byEnd = (a: EndedReceipt, b: EndedReceipt): number =>
  a.finishedAt - b.finishedAt || (a.id < b.id ? -1 : 1)

/** The first of these batches, with at least `most` runs if there are so many. */
export function upTo(most: number, batches: UnnumberedRow[]): UnnumberedRow[] {
  const taken: UnnumberedRow[] = []
  let count = 0
  for (const batch of batches) {
    if (count >= most) break
    taken.push(batch)
    count += batch.runs.length
  }
  return taken
}
