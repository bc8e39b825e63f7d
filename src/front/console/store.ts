/** The SQL of the console: which key it spends through, by account and by developer. */
import { and, eq, isNull } from 'drizzle-orm'
import type { Actor } from '../../kernel/acting.ts'
import type { Db } from '../../storage/db/engine/db.ts'
import { first, rows } from '../../storage/db/sql/query-steps.ts'

type Spender = Pick<Actor, 'account' | 'branch' | 'member'>

export type ConsoleStore = {
  /** The console key of an account, or of a developer in it; undefined before its first use. */
  keyOf(spender: Spender): Promise<string | undefined>
  /** Replaces the key `before`; false if another call replaced it first. */
  replaceKey(spender: Spender, before: string | undefined, keyId: string): Promise<boolean>
}

export function consoleStore(db: Db): ConsoleStore {
  const { accountSettings, members } = db.tables
  return {
    keyOf: async ({ account, branch, member = '' }) => {
      const found = await db.read((q) => {
        if (branch !== undefined) {
          const { consoleKeyId } = members
          return first(q.select({ consoleKeyId }).from(members).where(eq(members.id, member)))
        }
        const { consoleKeyId } = accountSettings
        const named = eq(accountSettings.accountId, account)
        return first(q.select({ consoleKeyId }).from(accountSettings).where(named))
      })
      return found?.consoleKeyId ?? undefined
    },
    replaceKey: ({ account, branch, member = '' }, before, keyId) =>
      db.write(function* (q) {
        if (branch !== undefined) {
          const { consoleKeyId } = members
          const same = before === undefined ? isNull(consoleKeyId) : eq(consoleKeyId, before)
          const own = and(eq(members.id, member), same)
          const changed = q.update(members).set({ consoleKeyId: keyId }).where(own)
          return (yield* rows(changed.returning())).length > 0
        }
        const fresh = {
          accountId: account,
          retention: 'none',
          consoleKeyId: null,
          keepsResponses: null,
        } as const
        yield* rows(q.insert(accountSettings).values(fresh).onConflictDoNothing().returning())
        const { consoleKeyId } = accountSettings
        const same = before === undefined ? isNull(consoleKeyId) : eq(consoleKeyId, before)
        const named = and(eq(accountSettings.accountId, account), same)
        const changed = q.update(accountSettings).set({ consoleKeyId: keyId }).where(named)
        return (yield* rows(changed.returning())).length > 0
      }),
  }
}
