/** SQL of {@link Extents}. */
import { and, eq, gt, isNull, sql } from 'drizzle-orm'
import { LRUCache } from 'lru-cache'
import type { Db } from '../../../storage/db/db.ts'
import { first } from '../../../storage/db/query-steps.ts'
import { type Extent, type Extents, extentMax } from '../extent.ts'

/** The most accounts of which the last count is kept. */
const accountsMax = 1000

export function extentStore(db: Db): Extents {
  const { runs, keys } = db.tables
  const kept = new LRUCache<string, Extent>({ max: accountsMax })
  const countOf = sql<number>`count(*)`.mapWith(Number)
  return {
    async note(account, now) {
      const extent = await db.read(function* (q) {
        const ended = q.select({ id: runs.id }).from(runs).where(eq(runs.accountId, account))
        const own = and(
          eq(keys.accountId, account),
          isNull(keys.revokedAt),
          gt(keys.expiresAt, now),
        )
        const inUse = q.select({ id: keys.id }).from(keys).where(own)
        const found = {
          runs: yield* first(q.select({ n: countOf }).from(ended.limit(extentMax).as('ended'))),
          keys: yield* first(q.select({ n: countOf }).from(inUse.limit(extentMax).as('in_use'))),
        }
        return { runs: found.runs?.n ?? 0, keys: found.keys?.n ?? 0 }
      })
      kept.set(account, extent)
    },
    last: (account) => kept.get(account),
  }
}
