/** The SQL behind onboarding: whether an account has a key and a verified receipt. */
import { eq } from 'drizzle-orm'
import type { Db } from '../../storage/db/engine/db.ts'
import type { AuditRow } from '../../storage/db/schema/schema.ts'
import { first, rows } from '../../storage/db/sql/query-steps.ts'

export type OnboardingStore = {
  /** Whether an account has a key, usable or not. */
  hasKey(account: string): Promise<boolean>
  /** Whether an account ever verified a receipt of its own. */
  hasVerified(account: string): Promise<boolean>
  noteVerified(entry: AuditRow): Promise<unknown>
}

/** Fixed per account, so that the entry is found by its id among any number of others. */
const entryId = (account: string): string => `verified_${account}`

export function onboardingStore(db: Db): OnboardingStore {
  const { auditEntries, keys } = db.tables
  return {
    hasKey: async (account) => {
      const { id } = keys
      const own = eq(keys.accountId, account)
      const found = await db.read((q) => first(q.select({ id }).from(keys).where(own).limit(1)))
      return found !== undefined
    },
    hasVerified: async (account) => {
      const { id } = auditEntries
      const named = eq(id, entryId(account))
      const found = await db.read((q) => first(q.select({ id }).from(auditEntries).where(named)))
      return found !== undefined
    },
    noteVerified: (entry) =>
      db.write((q) => {
        const row = { ...entry, id: entryId(entry.accountId) }
        return rows(q.insert(auditEntries).values(row).onConflictDoNothing().returning())
      }),
  }
}
