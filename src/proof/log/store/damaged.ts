/** Finds which of some stored subtrees is not the hash of its parts. */
import type { Db } from '../../../storage/db/engine/db.ts'
import type { Query, Work } from '../../../storage/db/sql/query-steps.ts'
import { isEqualBytes } from '../../../verify/merkle.ts'
import type { LogSpan } from '../logs.ts'
import { hashNode, homeOf, LeafDamage, type Place } from '../tree.ts'
import { digestOf, entryReader } from './entries.ts'
import { findLeaves, hashesIn } from './leaf.ts'

/** The damage of the first of some subtrees that is not the hash of its parts. */
export type FindDamaged = (
  q: Query,
  log: LogSpan,
  places: readonly Place[],
) => Work<LeafDamage | undefined>

/** Reads without caches. */
export function damagedAmong(db: Db): FindDamaged {
  const readEntries = entryReader(db)

  /** @throws LeafDamage */
  function* assertOne(q: Query, log: LogSpan, place: Place): Work<void> {
    const { level, idx } = place
    if (level === 0) {
      const [entry] = yield* readEntries(q, log, { from: idx, count: 1 })
      if (!entry) throw new LeafDamage(idx, 'it is missing')
      digestOf(entry, log)
      return
    }
    const left = { level: level - 1, idx: idx * 2 }
    const right = { level: level - 1, idx: idx * 2 + 1 }
    const homes = [left, right].map((part) => log.start + homeOf(part))
    const hashAt = hashesIn(yield* findLeaves(db, q, homes), log.start)
    if (isEqualBytes(hashNode(hashAt(left), hashAt(right)), hashAt(place))) return
    throw new LeafDamage(homeOf(place), 'its subtrees are not those of its leaves')
  }

  return function* find(q, log, places) {
    try {
      for (const place of places) yield* assertOne(q, log, place)
      return undefined
    } catch (error) {
      if (error instanceof LeafDamage) return error
      throw error
    }
  }
}
