/** SQL of {@link Accounts}. */
import { and, eq, inArray } from 'drizzle-orm'
import type { Db } from '../../storage/db/engine/db.ts'
import { prepared, rows } from '../../storage/db/sql/query-steps.ts'
import { withHolds } from '../../storage/holds/open-runs.ts'
import type { Accounts } from './account.ts'

export function accountStore(db: Db): Accounts {
  const { accounts } = db.tables
  return {
    find: (id) =>
      db.read(function* (q) {
        const named = (values: { id: string }) =>
          q.select().from(accounts).where(eq(accounts.id, values.id))
        const [row] = yield* prepared('account', { id }, named)
        return row && withHolds(db.open, row)
      }),
    suspendedAmong: (ids) =>
      db.read((q) => {
        const named = and(inArray(accounts.id, ids), eq(accounts.status, 'suspended'))
        return rows(q.select({ id: accounts.id }).from(accounts).where(named))
      }),
  }
}
