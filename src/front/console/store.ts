/** The SQL of the console: which key each account's console spends through. */
import { and, eq, isNull } from 'drizzle-orm'
import type { Db } from '../../storage/db/db.ts'
import { first, rows } from '../../storage/db/query-steps.ts'

export type ConsoleStore = {
  /** The console key of an account; undefined before its first use. */
  keyOf(account: string): Promise<string | undefined>
  /** Replaces the key `before`; false if another call replaced it first. */
  replaceKey(account: string, before: string | undefined, keyId: string): Promise<boolean>
}

export function consoleStore(db: Db): ConsoleStore {
  const { accountSettings } = db.tables
  return {
    keyOf: async (account) => {
      const found = await db.read((q) => {
        const { consoleKeyId } = accountSettings
        const named = eq(accountSettings.accountId, account)
        return first(q.select({ consoleKeyId }).from(accountSettings).where(named))
      })
      return found?.consoleKeyId ?? undefined
    },
    replaceKey: (account, before, keyId) =>
      db.write(function* (q) {
        const fresh = { accountId: account, retention: 'none', consoleKeyId: null } as const
        yield* rows(q.insert(accountSettings).values(fresh).onConflictDoNothing().returning())
        const { consoleKeyId } = accountSettings
        const same = before === undefined ? isNull(consoleKeyId) : eq(consoleKeyId, before)
        const named = and(eq(accountSettings.accountId, account), same)
        const changed = q.update(accountSettings).set({ consoleKeyId: keyId }).where(named)
        return (yield* rows(changed.returning())).length > 0
      }),
  }
}
