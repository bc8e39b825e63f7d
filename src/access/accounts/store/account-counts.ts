/** SQL of {@link AccountCountsStore}. */
import { and, eq, gt, isNull, sql } from 'drizzle-orm'
import { LRUCache } from 'lru-cache'
import type { Actor } from '../../../kernel/acting.ts'
import type { Db } from '../../../storage/db/engine/db.ts'
import { inKeyScope } from '../../../storage/db/sql/key-scope.ts'
import { first, prepared } from '../../../storage/db/sql/query-steps.ts'
import { type AccountCounts, type AccountCountsStore, accountCountMax } from '../account-counts.ts'

/** The most readers of which the last count is kept. */
const readersMax = 1000

export function accountCountsStore(db: Db): AccountCountsStore {
  const { runs, keys, members } = db.tables
  const kept = new LRUCache<string, AccountCounts>({ max: readersMax })
  const countOf = sql<number>`count(*)`.mapWith(Number)
  return {
    async note(acting, now) {
      const { wallet, account, branch } = acting
      const extent = await db.read(function* (q) {
        const ended = q.select({ id: runs.id }).from(runs).where(eq(runs.accountId, account))
        const own = and(inKeyScope(keys, acting), isNull(keys.revokedAt), gt(keys.expiresAt, now))
        const inUse = q.select({ id: keys.id }).from(keys).where(own)
        const count = q.select({ n: countOf }).from(ended.limit(accountCountMax).as('ended'))
        const ofBranch = branch !== undefined
        const listed = yield* prepared('memberships', { wallet }, (v) =>
          q
            .select({ account: members.accountId, role: members.role })
            .from(members)
            .where(eq(members.wallet, v.wallet))
            .orderBy(members.id),
        )
        const found = {
          runs: ofBranch ? undefined : ((yield* first(count))?.n ?? 0),
          keys: yield* first(
            q.select({ n: countOf }).from(inUse.limit(accountCountMax).as('in_use')),
          ),
        }
        return { runs: found.runs, keys: found.keys?.n ?? 0, memberships: listed }
      })
      kept.set(nameOf(acting), extent)
    },
    last: (acting) => kept.get(nameOf(acting)),
  }
}

const nameOf = ({ wallet, account, branch = '' }: Actor): string => `${wallet} ${account} ${branch}`
