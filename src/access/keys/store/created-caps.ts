/** Reads the caps that keys were made with, from the audit. */
import { and, eq, inArray } from 'drizzle-orm'
import type { Nusd } from '../../../kernel/money.ts'
import type { Db } from '../../../storage/db/engine/db.ts'
import { rows } from '../../../storage/db/sql/query-steps.ts'

/** The first caps of all keys of these accounts, by key. */
export function createdCaps(db: Db, accounts: readonly string[]): Promise<Map<string, Nusd>> {
  const { accountId, action, subject, detail } = db.tables.auditEntries
  return db.read(function* (q) {
    const caps = new Map<string, Nusd>()
    if (accounts.length === 0) return caps
    const made = and(inArray(accountId, [...accounts]), eq(action, 'key.create'))
    const found = q.select({ subject, detail }).from(db.tables.auditEntries).where(made)
    for (const entry of yield* rows(found)) {
      const cap = entry.detail['cap.limit_nusd']
      if (typeof cap === 'string') caps.set(entry.subject, BigInt(cap))
    }
    return caps
  })
}
