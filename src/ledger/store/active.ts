/** Counts the active keys of accounts. */
import { and, count, gt, inArray, isNull } from 'drizzle-orm'
import type { Millis } from '../../kernel/clock.ts'
import type { Tables } from '../../storage/db/schema/schema.ts'
import { type Query, rows, type Work } from '../../storage/db/sql/query-steps.ts'

/** The number of keys of each account that are neither revoked nor expired. Lock it before. */
export function* countActiveKeys(
  q: Query,
  { keys }: Tables,
  accounts: string[],
  now: Millis,
): Work<Map<string, number>> {
  const active = and(
    inArray(keys.accountId, accounts),
    isNull(keys.revokedAt),
    gt(keys.expiresAt, now),
  )
  const counted = yield* rows(
    q.select({ id: keys.accountId, n: count() }).from(keys).where(active).groupBy(keys.accountId),
  )
  return new Map(counted.map(({ id, n }) => [id, Number(n)]))
}
