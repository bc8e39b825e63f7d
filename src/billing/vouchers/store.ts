/** SQL of {@link VoucherStore}; the ledger redeems. */
import { and, desc, eq, isNull } from 'drizzle-orm'
import type { Db } from '../../storage/db/engine/db.ts'
import { first, insert, rows } from '../../storage/db/sql/query-steps.ts'
import type { VoucherStore } from './vouchers.ts'

/** Codes added in one step: SQLite binds a limited number of values. */
const stepRows = 1000

export function voucherStore(db: Db): VoucherStore {
  const { voucherBatches: batches, voucherCodes: codes, auditEntries } = db.tables
  return {
    add: (batch, hashes, audit) =>
      db.write(function* () {
        yield* insert(batches, [batch])
        for (let from = 0; from < hashes.length; from += stepRows) {
          const step = hashes.slice(from, from + stepRows)
          yield* insert(
            codes,
            step.map((hash, i) => ({ hash, batchId: batch.id, serial: from + i + 1 })),
          )
        }
        yield* insert(auditEntries, [audit])
      }),
    list: () => db.read((q) => rows(q.select().from(batches).orderBy(desc(batches.id)))),
    find: (id) => db.read((q) => first(q.select().from(batches).where(eq(batches.id, id)))),
    revoke: (id, at, toAudit) =>
      db.write(function* (q) {
        const live = and(eq(batches.id, id), isNull(batches.revokedAt))
        const changed = q.update(batches).set({ revokedAt: at }).where(live)
        const [revoked] = yield* rows(changed.returning())
        if (revoked) yield* insert(auditEntries, [toAudit(revoked)])
        return revoked
      }),
  }
}
