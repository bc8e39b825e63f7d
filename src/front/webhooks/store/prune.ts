/** Deletes old deliveries, and events without a delivery. */
import { and, desc, eq, inArray, isNotNull, lt, notExists } from 'drizzle-orm'
import type { Millis } from '../../../kernel/clock.ts'
import type { Db } from '../../../storage/db/db.ts'
import { type Query, rows, type Work } from '../../../storage/db/query-steps.ts'
import { keptMs, maxKept, triedForMs } from '../webhook.ts'

/** Rows deleted in one transaction. Charges wait for it, so it is short. */
const deletedAtOnce = 1000

export function* pruneWork(db: Db, q: Query, now: Millis): Work<void> {
  const { events, webhooks, webhookDeliveries: deliveries } = db.tables
  const { id, eventId, webhookId, doneAt } = deliveries
  const old = q
    .select({ id, eventId })
    .from(deliveries)
    .where(lt(doneAt, now - keptMs))
  const gone = yield* rows(old.limit(deletedAtOnce))
  for (const hook of yield* rows(q.select({ id: webhooks.id }).from(webhooks))) {
    const done = and(eq(webhookId, hook.id), isNotNull(doneAt))
    const beyond = q.select({ id, eventId }).from(deliveries).where(done).orderBy(desc(id))
    gone.push(...(yield* rows(beyond.limit(deletedAtOnce).offset(maxKept))))
  }
  // Events whose endpoints were removed together with the deliveries.
  const forgotten = lt(events.routedAt, now - keptMs - triedForMs)
  const orphans = q.select({ id: events.id }).from(events).where(forgotten).limit(deletedAtOnce)
  const eventIds = [
    ...gone.map((one) => one.eventId),
    ...(yield* rows(orphans)).map((one) => one.id),
  ]
  if (eventIds.length === 0) return
  const ids = gone.map((one) => one.id)
  if (ids.length > 0) yield* rows(q.delete(deliveries).where(inArray(id, ids)).returning({ id }))
  const named = inArray(events.id, eventIds)
  const left = q.select({ id }).from(deliveries).where(eq(eventId, events.id))
  yield* rows(
    q
      .delete(events)
      .where(and(named, notExists(left)))
      .returning({ id: events.id }),
  )
}
