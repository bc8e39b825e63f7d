/** Reads stored leaves together with the digests that they are the hashes of. */
import { and, asc, eq, gte, lt } from 'drizzle-orm'
import { toHex } from '../../../kernel/hex.ts'
import type { Db } from '../../../storage/db/engine/db.ts'
import { prepared, type Query, type Work } from '../../../storage/db/sql/query-steps.ts'
import { isEqualBytes, type LeafKind } from '../../../verify/merkle.ts'
import type { LogSpan } from '../logs.ts'
import { hashLeaf, LeafDamage } from '../tree.ts'
import { type MissingLeaf, otherDigests } from './other-digests.ts'

/** A stored leaf with its digest; null if no row has one. `idx` is its place among all logs. */
export type StoredEntry = {
  idx: number
  kind: LeafKind
  hashes: Uint8Array
  digest: Uint8Array | null
}

/** The leaves of a log from index `from` on, in order, at most `count` of them. */
export type EntryReader = (
  q: Query,
  log: LogSpan,
  range: { from: number; count: number },
) => Work<StoredEntry[]>

/** Scans leaves by their primary key, and takes digests from the rows that were logged. */
export function entryReader(db: Db): EntryReader {
  const { logLeaves: leaves, runs } = db.tables

  const { idx, kind, hashes } = leaves
  const columns = { idx, kind, hashes, digest: runs.digest }

  const readJoined = (q: Query, from: number, before: number) =>
    prepared('log.entries', { from, before }, (values) =>
      q
        .select(columns)
        .from(leaves)
        .leftJoin(runs, eq(runs.id, leaves.runId))
        .where(and(gte(leaves.idx, values.from), lt(leaves.idx, values.before)))
        .orderBy(asc(leaves.idx)),
    )

  return function* read(q, log, { from: index, count }) {
    const from = log.start + index
    const before = Math.min(from + count, log.end ?? Number.POSITIVE_INFINITY)
    const found = yield* readJoined(q, from, before)
    const lacking = found.filter(({ digest }) => !digest).map(toLacking)
    const others = yield* otherDigests(db, q, log, lacking)
    return found.map((leaf) => ({
      ...leaf,
      digest: leaf.digest ?? others.get(toHex(leaf.hashes.subarray(0, 32))) ?? null,
    }))
  }
}

const toLacking = ({ idx, kind }: StoredEntry): MissingLeaf => ({ idx, kind })

/** The digest of an entry. @throws LeafDamage if it is missing, or is not that of the leaf */
export function digestOf({ idx, kind, hashes, digest }: StoredEntry, { start }: LogSpan) {
  if (!digest) throw new LeafDamage(idx - start, 'no row has its digest')
  if (!isEqualBytes(hashLeaf(kind, digest), hashes.subarray(0, 32))) {
    throw new LeafDamage(idx - start, 'it is not the hash of its digest')
  }
  return digest
}
