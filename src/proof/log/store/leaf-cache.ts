/** Caches the stored leaves that many proofs share. */
import { LRUCache } from 'lru-cache'
import type { Db } from '../../../storage/db/engine/db.ts'
import type { Query, Work } from '../../../storage/db/sql/query-steps.ts'
import { type FoundLeaf, findLeaves } from './leaf.ts'

/** At most this many leaves; memory grows as they come. */
const room = { maxSize: 20_000, sizeCalculation: () => 1 }
/** The smallest leaf cached: one in sixteen has five hashes or more. */
const sharedBytes = 5 * 32

/**
 * Finds leaves by place. Committed leaves never change, but a restored database may write others
 * in their places: a lost connection empties the cache.
 */
export function leafCache(db: Db): (q: Query, wanted: readonly number[]) => Work<FoundLeaf[]> {
  const shared = new LRUCache<number, FoundLeaf>(room)
  /** Counts the times the cache was emptied: reads that span one are not cached. */
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
