/** Stores what witnesses signed of the log. */
import { and, asc, countDistinct, desc, eq, gt, gte } from 'drizzle-orm'
import type { Db } from '../../../storage/db/engine/db.ts'
import { type Lease, type LeaseTime, takeLease } from '../../../storage/db/engine/lease.ts'
import type { CosignatureRow } from '../../../storage/db/schema/schema.ts'
import { first, rows } from '../../../storage/db/sql/query-steps.ts'

export type CosignatureStore = {
  takeLease(): Promise<Lease | undefined>
  /** The cosignatures of one head, by the names of their witnesses. */
  at(issuer: string, size: number): Promise<CosignatureRow[]>
  /** The newest one of a witness. */
  newestOf(issuer: string, witness: string): Promise<CosignatureRow | undefined>
  /** The size of the first head over more than `index` leaves that so many witnesses signed. */
  firstOver(issuer: string, index: number, witnesses: number): Promise<number | undefined>
  /** The size of the newest head that so many witnesses signed. */
  newestBy(issuer: string, witnesses: number): Promise<number | undefined>
  /** Keeps those that are new. */
  add(signed: readonly CosignatureRow[]): Promise<void>
}

export function cosignatureStore(
  db: Db,
  { clock, node }: { clock: LeaseTime; node: string },
): CosignatureStore {
  const { cosignatures } = db.tables
  const { issuer: ofLog, witness: by, size } = cosignatures

  /** Heads that so many witnesses signed: an index has them in the order of their sizes. */
  const sizes = (issuer: string, over: number, witnesses: number, newest: boolean) =>
    db.read(function* (q) {
      const found = q
        .select({ size })
        .from(cosignatures)
        .where(and(eq(ofLog, issuer), gt(size, over)))
        .groupBy(size)
        .having(gte(countDistinct(by), witnesses))
        .orderBy(newest ? desc(size) : asc(size))
        .limit(1)
      return (yield* rows(found))[0]?.size
    })

  return {
    takeLease: () => takeLease(db, clock, 'witnesses', node),
    at: (issuer, at) =>
      db.read((q) => {
        const named = and(eq(ofLog, issuer), eq(size, at))
        return rows(q.select().from(cosignatures).where(named).orderBy(asc(by)))
      }),
    newestOf: (issuer, witness) =>
      db.read((q) => {
        const own = and(eq(ofLog, issuer), eq(by, witness))
        return first(q.select().from(cosignatures).where(own).orderBy(desc(size)).limit(1))
      }),
    firstOver: (issuer, index, witnesses) => sizes(issuer, index, witnesses, false),
    newestBy: (issuer, witnesses) => sizes(issuer, -1, witnesses, true),
    add: (signed) =>
      db.write(function* (q) {
        if (signed.length === 0) return
        const added = q.insert(cosignatures).values([...signed])
        yield* rows(added.onConflictDoNothing().returning())
      }),
  }
}
