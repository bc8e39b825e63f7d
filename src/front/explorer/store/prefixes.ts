/** The SQL of searches by the beginning of an id, a hash or a handle: ranges of indexes. */
import { and, between, desc, eq, type SQL, sql } from 'drizzle-orm'
import type { Db } from '../../../storage/db/engine/db.ts'
import type { AnchorRow, PassportRow } from '../../../storage/db/schema/schema.ts'
import { beginsWith } from '../../../storage/db/sql/begins-with.ts'
import { rows } from '../../../storage/db/sql/query-steps.ts'

/** Number of newest anchors searched for a root; they cover months. */
export const rootsMax = 4000

/** From the least to the greatest of what begins alike, both of full length. */
export type Range<T> = readonly [least: T, greatest: T]

export type PrefixFinds = {
  /** Public receipts with an id in a range, newest first. */
  receiptsIn(ids: Range<string>, limit: number): Promise<string[]>
  /** Public receipts with a digest in a range. */
  receiptsOfDigests(digests: Range<Uint8Array>, limit: number): Promise<string[]>
  anchorsIn(ids: Range<string>, limit: number): Promise<AnchorRow[]>
  /** Anchors whose transaction has a hash in a range. */
  anchorsOfTxs(hashes: Range<string>, limit: number): Promise<AnchorRow[]>
  /** Anchors with a root in a range, among the newest {@link rootsMax} of a log. */
  anchorsOfRoots(issuer: string, roots: Range<Uint8Array>, limit: number): Promise<AnchorRow[]>
  /** Public passports whose handle begins so, in the order of handles. */
  passportsBy(prefix: string, limit: number): Promise<NamedPassport[]>
}

export type NamedPassport = Pick<PassportRow, 'handle' | 'displayName'>

export function prefixFinds(db: Db): PrefixFinds {
  const { anchors, chainTxs, passports, shares } = db.tables
  const isPublic = eq(shares.visibility, 'public')

  const receipts = async (named: SQL, limit: number): Promise<string[]> => {
    const found = await db.read((q) =>
      rows(
        q
          .select({ id: shares.receiptId })
          .from(shares)
          .where(and(isPublic, named))
          .orderBy(desc(shares.receiptId))
          .limit(limit),
      ),
    )
    return found.map(({ id }) => id)
  }

  return {
    receiptsIn: (ids, limit) => receipts(between(shares.receiptId, ...ids), limit),
    receiptsOfDigests: (digests, limit) => receipts(between(shares.digest, ...digests), limit),
    anchorsIn: (ids, limit) =>
      db.read((q) =>
        rows(
          q
            .select()
            .from(anchors)
            .where(between(anchors.id, ...ids))
            .orderBy(desc(anchors.id))
            .limit(limit),
        ),
      ),
    anchorsOfTxs: async (hashes, limit) => {
      const found = await db.read((q) =>
        rows(
          q
            .select({ anchor: anchors })
            .from(chainTxs)
            .innerJoin(
              anchors,
              and(eq(anchors.id, chainTxs.subject), eq(anchors.txHash, chainTxs.hash)),
            )
            .where(and(between(chainTxs.hash, ...hashes), eq(chainTxs.purpose, 'anchor')))
            .limit(limit),
        ),
      )
      return found.map(({ anchor }) => anchor)
    },
    anchorsOfRoots: (issuer, roots, limit) =>
      db.read((q) => {
        const newest = q
          .select({ id: anchors.id, root: anchors.root })
          .from(anchors)
          .where(eq(anchors.issuer, issuer))
          .orderBy(desc(anchors.size))
          .limit(rootsMax)
          .as('newest')
        const named = q
          .select({ id: newest.id })
          .from(newest)
          .where(between(newest.root, ...roots))
          .limit(limit)
        return rows(q.select().from(anchors).where(sql`${anchors.id} in ${named}`))
      }),
    passportsBy: (prefix, limit) => {
      const { handle, displayName, status } = passports
      return db.read((q) =>
        rows(
          q
            .select({ handle, displayName })
            .from(passports)
            .where(and(sql`${status} = 'public'`, beginsWith(db, handle, prefix)))
            .limit(limit),
        ),
      )
    },
  }
}
