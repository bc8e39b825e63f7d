/** Reads the hashes and entries of tiles: a range of leaves, or the leaf that ends each subtree. */
import { and, asc, eq, gte, lt } from 'drizzle-orm'
import { toHex } from '../../../kernel/hex.ts'
import type { Db } from '../../../storage/db/db.ts'
import { prepared, type Query, rows, type Work } from '../../../storage/db/query-steps.ts'
import { tileWidth } from '../../../verify/log-tiles.ts'
import { type LeafKind, leafHash, leafKinds } from '../../../verify/merkle.ts'
import type { LogSpan } from '../logs.ts'
import { hashIn, homeOf } from '../tree.ts'
import { findLeaves, hashesIn } from './leaf.ts'
import { type Lacking, otherDigests } from './other-digests.ts'

/** An entry of the log: what its leaf hash is of. */
export type Entry = { kind: LeafKind; digest: Uint8Array }

type Place = { index: number; width: number }

export type TileStore = {
  /** The hashes of a tile in order. @throws Error if a leaf is missing. */
  hashes(log: LogSpan, tile: Place & { level: number }): Promise<Uint8Array[]>
  /** The entries of a bundle in order. @throws Error if one is missing or is not of its leaf. */
  entries(log: LogSpan, bundle: Place): Promise<Entry[]>
}

export function tileStore(db: Db): TileStore {
  const { logLeaves: leaves, runs } = db.tables

  /** One scan of the primary key. */
  const readRange = (q: Query, from: number, before: number) =>
    prepared('log.tile', { from, before }, (values) =>
      q
        .select({ idx: leaves.idx, hashes: leaves.hashes })
        .from(leaves)
        .where(and(gte(leaves.idx, values.from), lt(leaves.idx, values.before)))
        .orderBy(asc(leaves.idx)),
    )

  const readEntries = (q: Query, from: number, before: number) =>
    prepared('log.entries', { from, before }, (values) =>
      q
        .select({ idx: leaves.idx, kind: leaves.kind, hashes: leaves.hashes, digest: runs.digest })
        .from(leaves)
        .leftJoin(runs, eq(runs.id, leaves.runId))
        .where(and(gte(leaves.idx, values.from), lt(leaves.idx, values.before)))
        .orderBy(asc(leaves.idx)),
    )

  /** Digests by place of receipts that versions before logged: `runs` holds their places. */
  function* olderDigests(q: Query, from: number, before: number) {
    const within = and(gte(runs.logPlace, from), lt(runs.logPlace, before))
    const found = q.select({ idx: runs.logPlace, digest: runs.digest }).from(runs).where(within)
    return new Map((yield* rows(found)).map(({ idx, digest }) => [idx, digest]))
  }

  function* findEntries(q: Query, log: LogSpan, { index, width }: Place): Work<Entry[]> {
    const from = log.start + index * tileWidth
    const found = yield* readEntries(q, from, from + width)
    const isOlder = found.some(({ kind, digest }) => kind === leafKinds.receipt && !digest)
    const older = isOlder ? yield* olderDigests(q, from, from + width) : undefined
    const read = found.map((leaf) => ({
      ...leaf,
      digest: leaf.digest ?? older?.get(leaf.idx) ?? null,
    }))
    const lacking = read.filter(({ digest }) => !digest).map(toLacking)
    const others = yield* otherDigests(db, q, log, lacking)
    return read.map((leaf, i) => {
      if (leaf.idx !== from + i) throw new Error(`the log lacks its leaf ${from + i}`)
      const leafOf = toHex(leaf.hashes.subarray(0, 32))
      const digest = leaf.digest ?? others.get(leafOf)
      if (!digest || toHex(leafHash(leaf.kind, digest)) !== leafOf) {
        throw new Error(`the digest of leaf ${leaf.idx} of the log is missing or another`)
      }
      return { kind: leaf.kind, digest }
    })
  }

  return {
    hashes: (log, { level, index, width }) =>
      db.read(function* (q) {
        const first = index * tileWidth
        if (level === 0) {
          const found = yield* readRange(q, log.start + first, log.start + first + width)
          if (found.length !== width) throw new Error(`the log lacks leaves of tile ${index}`)
          return found.map((leaf) => hashIn(leaf, { level: 0, idx: 0 }))
        }
        // A hash of 256^level leaves is the subtree of this height.
        const height = 8 * level
        const places = Array.from({ length: width }, (_, i) => ({ level: height, idx: first + i }))
        const homes = places.map((place) => log.start + homeOf(place))
        return places.map(hashesIn(yield* findLeaves(db, q, homes), log.start))
      }),
    entries: (log, bundle) =>
      db.read(function* (q) {
        const entries = yield* findEntries(q, log, bundle)
        if (entries.length !== bundle.width) throw new Error('the log lacks leaves of a bundle')
        return entries
      }),
  }
}

const toLacking = ({ idx, kind }: { idx: number; kind: LeafKind }): Lacking => ({ idx, kind })
