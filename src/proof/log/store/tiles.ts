/** Reads the hashes and entries of tiles: a range of leaves, or the leaf that ends each subtree. */
import { and, asc, gte, lt } from 'drizzle-orm'
import type { Db } from '../../../storage/db/engine/db.ts'
import { prepared, type Query, type Work } from '../../../storage/db/sql/query-steps.ts'
import { tileWidth } from '../../../verify/log-tiles.ts'
import { isEqualBytes, type LeafKind } from '../../../verify/merkle.ts'
import type { LogSpan } from '../logs.ts'
import { grow, homeOf, LeafDamage, type Place as Subtree } from '../tree.ts'
import { damagedAmong } from './damaged.ts'
import { digestOf, entryReader } from './entries.ts'
import { type FoundLeaf, findLeaves, hashesIn } from './leaf.ts'

/** An entry of the log: what its leaf hash is of. */
export type Entry = { kind: LeafKind; digest: Uint8Array }

type Place = { index: number; width: number }

export type TileStore = {
  /** The hashes of a tile in order. @throws LeafDamage if one is missing or fits no other. */
  hashes(log: LogSpan, tile: Place & { level: number }): Promise<Uint8Array[]>
  /** The entries of a bundle in order. @throws LeafDamage if one is missing or not of its leaf. */
  entries(log: LogSpan, bundle: Place): Promise<Entry[]>
}

export function tileStore(db: Db): TileStore {
  const { logLeaves: leaves } = db.tables
  const readEntries = entryReader(db)
  const findDamaged = damagedAmong(db)

  /** One scan of the primary key. */
  const readRange = (q: Query, from: number, before: number) =>
    prepared('log.tile', { from, before }, (values) =>
      q
        .select({ idx: leaves.idx, hashes: leaves.hashes })
        .from(leaves)
        .where(and(gte(leaves.idx, values.from), lt(leaves.idx, values.before)))
        .orderBy(asc(leaves.idx)),
    )

  /** The leaves that end the subtrees of a tile. */
  function* readHomes(q: Query, log: LogSpan, places: readonly Subtree[]): Work<FoundLeaf[]> {
    const homes = places.map((place) => log.start + homeOf(place))
    const [first, last] = [homes[0] ?? 0, homes.at(-1) ?? -1]
    if (places[0]?.level === 0) return yield* readRange(q, first, last + 1)
    return yield* findLeaves(db, q, homes)
  }

  /** @throws LeafDamage unless the hashes of a tile give the subtrees that are stored of them. */
  function* assertSound(q: Query, log: LogSpan, places: readonly Subtree[], found: FoundLeaf[]) {
    const hashAt = hashesIn(found, log.start)
    const rows = new Map(found.map((leaf) => [leaf.idx, leaf.hashes]))
    const peaks: Uint8Array[] = []
    let odd: Subtree | undefined
    for (const [i, place] of places.entries()) {
      const grown = grow(peaks, i, hashAt(place))
      const at = 32 * place.level
      const stored = rows.get(log.start + homeOf(place))?.subarray(at, at + grown.length)
      if (stored && isEqualBytes(grown, stored)) continue
      odd = place
      break
    }
    // The last hash of an odd number stands alone: nothing in its tile is made of it.
    const last = places.at(-1)
    if (!odd && last && places.length % 2 === 0) return
    const asked = odd ? places.slice(0, places.indexOf(odd) + 1) : last ? [last] : []
    const damage = yield* findDamaged(q, log, asked)
    if (damage) throw damage
    if (odd) throw new LeafDamage(homeOf(odd), 'its subtrees are not those of its leaves')
  }

  return {
    hashes: (log, { level, index, width }) =>
      db.read(function* (q) {
        // A hash of 256^level leaves is the subtree of this height.
        const height = 8 * level
        const places = Array.from({ length: width }, (_, i) => {
          return { level: height, idx: index * tileWidth + i }
        })
        const found = yield* readHomes(q, log, places)
        yield* assertSound(q, log, places, found)
        return places.map(hashesIn(found, log.start))
      }),
    entries: (log, { index, width }) =>
      db.read(function* (q) {
        const from = index * tileWidth
        const found = yield* readEntries(q, log, { from, count: width })
        return Array.from({ length: width }, (_, i) => {
          const entry = found[i]
          if (entry?.idx !== log.start + from + i) throw new LeafDamage(from + i, 'it is missing')
          return { kind: entry.kind, digest: digestOf(entry, log) }
        })
      }),
  }
}
