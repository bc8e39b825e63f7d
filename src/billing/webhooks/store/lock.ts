/** Locks webhooks for the writers of their deliveries. */
import { asc, inArray } from 'drizzle-orm'
import type { Db } from '../../../storage/db/engine/db.ts'
import type { WebhookRow } from '../../../storage/db/schema/schema.ts'
import { lockedRows, type Query, type Work } from '../../../storage/db/sql/query-steps.ts'

/** Locks webhooks before their deliveries are read, in the order of every writer of both. */
export function* lockWebhooks(db: Db, q: Query, ids: readonly string[]): Work<WebhookRow[]> {
  const { webhooks } = db.tables
  const { id } = webhooks
  const named = q
    .select()
    .from(webhooks)
    .where(inArray(id, [...ids]))
  return yield* lockedRows(named.orderBy(asc(id)))
}

export const byId = <T extends { id: string }>(found: readonly T[]): Map<string, T> =>
  new Map(found.map((row) => [row.id, row]))
