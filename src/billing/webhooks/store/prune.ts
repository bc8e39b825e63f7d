/** Deletes old deliveries, and events without a delivery. */
import { and, desc, eq, isNotNull, lt } from 'drizzle-orm'
import type { Millis } from '../../../kernel/clock.ts'
import type { Db } from '../../../storage/db/engine/db.ts'
import type { DeliveryRow } from '../../../storage/db/schema/schema.ts'
import {
  findFields,
  type Query,
  remove,
  rows,
  type Work,
} from '../../../storage/db/sql/query-steps.ts'
import { keptMs, maxKept, triedForMs } from '../webhook.ts'

/** Rows deleted in one transaction. Charges wait for it, so it is short. */
const deletedAtOnce = 1000

type PrunedDelivery = Pick<DeliveryRow, 'id' | 'eventId'>

export function pruning(db: Db) {
  const { events, webhooks, webhookDeliveries: deliveries } = db.tables
  const { id, eventId, webhookId, doneAt } = deliveries

  /** The ended deliveries of an endpoint beyond those that are kept: ids are in order of time. */
  function* surplus(q: Query, hook: string, most: number): Work<PrunedDelivery[]> {
    const done = and(eq(webhookId, hook), isNotNull(doneAt))
    const newest = q.select({ id, eventId }).from(deliveries).where(done).orderBy(desc(id))
    return yield* rows(newest.limit(most).offset(maxKept))
  }

  function* drop(gone: readonly PrunedDelivery[], orphans: readonly string[] = []): Work<void> {
    yield* remove(deliveries, [...gone])
    const told = [...new Set([...gone.map((one) => one.eventId), ...orphans])]
    const left = yield* findFields(deliveries, ['eventId'], { eventId: told })
    const needed = new Set(left.map((one) => one.eventId))
    yield* remove(
      events,
      told.filter((one) => !needed.has(one)).map((one) => ({ id: one })),
    )
  }

  return {
    /** Trims endpoints that many deliveries ended for. True if there is more to delete. */
    trim: (hooks: Iterable<string>): Promise<boolean> =>
      db.write(function* (q) {
        const gone: PrunedDelivery[] = []
        for (const hook of hooks) {
          gone.push(...(yield* surplus(q, hook, deletedAtOnce - gone.length)))
          if (gone.length >= deletedAtOnce) break
        }
        yield* drop(gone)
        return gone.length >= deletedAtOnce
      }),
    /** Deletes what is old, and trims every endpoint. True if there is more to delete. */
    prune: (now: Millis): Promise<boolean> =>
      db.write(function* (q) {
        const old = q
          .select({ id, eventId })
          .from(deliveries)
          .where(lt(doneAt, now - keptMs))
        const gone = new Map((yield* rows(old.limit(deletedAtOnce))).map((one) => [one.id, one]))
        for (const hook of yield* rows(q.select({ id: webhooks.id }).from(webhooks))) {
          const room = deletedAtOnce - gone.size
          if (room <= 0) break
          for (const one of yield* surplus(q, hook.id, room)) gone.set(one.id, one)
        }
        // Events whose endpoints were removed together with the deliveries.
        const forgotten = lt(events.routedAt, now - keptMs - triedForMs)
        const orphans = yield* rows(
          q.select({ id: events.id }).from(events).where(forgotten).limit(deletedAtOnce),
        )
        yield* drop(
          [...gone.values()],
          orphans.map((one) => one.id),
        )
        return gone.size >= deletedAtOnce
      }),
  }
}
