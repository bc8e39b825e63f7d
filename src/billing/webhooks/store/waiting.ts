/** Counts the deliveries that wait for an endpoint. */
import { and, eq, sql } from 'drizzle-orm'
import type { Db } from '../../../storage/db/engine/db.ts'
import { first, type Query, type Work } from '../../../storage/db/sql/query-steps.ts'

export function* countWaiting(db: Db, q: Query, webhookId: string): Work<number> {
  const { webhookDeliveries: deliveries } = db.tables
  const count = sql<number>`cast(count(*) as integer)`.mapWith(Number)
  const named = and(eq(deliveries.webhookId, webhookId), eq(deliveries.status, 'pending'))
  return (yield* first(q.select({ count }).from(deliveries).where(named)))?.count ?? 0
}
