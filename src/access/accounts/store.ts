import { and, eq, inArray } from 'drizzle-orm'
import { type Db, prepared, rows } from '../../storage/db/db.ts'
import type { AccountRow } from '../../storage/db/schema.ts'

export type AccountStore = ReturnType<typeof accountStore>

export function accountStore(db: Db) {
  const { accounts } = db.tables
  return {
    find: (id: string): Promise<AccountRow | undefined> =>
      db.read(function* (q) {
        const named = (values: { id: string }) =>
          q.select().from(accounts).where(eq(accounts.id, values.id))
        return (yield* prepared('account', { id }, named))[0]
      }),
    /** Which of these accounts are suspended: asked for the runs in flight. */
    suspendedAmong: (ids: string[]): Promise<{ id: string }[]> =>
      db.read((q) => {
        const named = and(inArray(accounts.id, ids), eq(accounts.status, 'suspended'))
        return rows(q.select({ id: accounts.id }).from(accounts).where(named))
      }),
  }
}
