/** Reads which balances of other gateways were granted before, from the audit. */
import { eq } from 'drizzle-orm'
import type { Nusd } from '../../kernel/money.ts'
import type { Db } from '../../storage/db/engine/db.ts'
import { rows } from '../../storage/db/sql/query-steps.ts'

/** The sum that the owner of a balance was granted, and its account. */
export type MovedGrant = { account: string; amount: Nusd }

/** The grants that name the source of their money, added up by that source. */
export function movedGrants(db: Db): Promise<Map<string, MovedGrant>> {
  const { action, accountId, detail } = db.tables.auditEntries
  return db.read(function* (q) {
    const found = yield* rows(
      q.select({ accountId, detail }).from(db.tables.auditEntries).where(eq(action, 'grant')),
    )
    const moved = new Map<string, MovedGrant>()
    for (const entry of found) {
      const { source, amount_nusd: amount } = entry.detail
      if (typeof source !== 'string' || typeof amount !== 'string') continue
      const before = moved.get(source)?.amount ?? 0n
      moved.set(source, { account: entry.accountId, amount: before + BigInt(amount) })
    }
    return moved
  })
}
