import { LRUCache } from 'lru-cache'
import type { Db } from '../../../storage/db/db.ts'
import type { Query, Work } from '../../../storage/db/query-steps.ts'
import { type FoundLeaf, findLeaves } from './leaf.ts'

/** Rows kept for proofs, for which room is taken as they come. */
const room = { maxSize: 20_000, sizeCalculation: () => 1 }
/** The fewest bytes of one: a sixteenth of all rows have five hashes. */
const sharedBytes = 5 * 32

/**
 * Leaves by their places, those from memory that many proofs share. Committed rows never change,
 * but a database that went back to an earlier state writes others in their places: everything is
 * dropped when a connection breaks.
 */
export function leafCache(db: Db): (q: Query, wanted: readonly number[]) => Work<FoundLeaf[]> {
  const shared = new LRUCache<number, FoundLeaf>(room)
  /** Grows with each time that all is dropped: what was read before is not kept after. */
  let drops = 0
  const drop = (): void => {
    shared.clear()
    drops++
  }
  db.onForeignWrite(drop)
  db.onConnectionLost(drop)

  return function* find(q, wanted) {
    const before = drops
    const known = wanted.flatMap((idx) => shared.get(idx) ?? [])
    const missing = wanted.filter((idx) => !shared.has(idx))
    const read = yield* findLeaves(db, q, missing)
    if (before === drops) {
      for (const leaf of read) if (leaf.hashes.length >= sharedBytes) shared.set(leaf.idx, leaf)
    }
    return [...known, ...read]
  }
}
