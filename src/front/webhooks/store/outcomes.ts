/** Stores the outcomes of attempts, and releases the next event of a subject. */
import { and, asc, eq, inArray, lt } from 'drizzle-orm'
import type { Millis } from '../../../kernel/clock.ts'
import type { Db } from '../../../storage/db/db.ts'
import {
  first,
  lockedRows,
  type Query,
  rows,
  update,
  type Work,
} from '../../../storage/db/query-steps.ts'
import type { DeliveryRow, WebhookRow } from '../../../storage/db/schema.ts'

/** A delivery after an attempt, its endpoint, and whether the endpoint is disabled now. */
export type Outcome = {
  row: DeliveryRow
  webhook: WebhookRow
  isOver: boolean
  /** When the other events of a failing endpoint are due again. */
  postponedTo?: Millis | undefined
}

/** Fails the waiting deliveries of an endpoint that was disabled. */
export function* failWaiting(db: Db, q: Query, webhookId: string, now: Millis): Work<void> {
  const { webhookDeliveries: deliveries } = db.tables
  const waiting = and(eq(deliveries.webhookId, webhookId), eq(deliveries.status, 'pending'))
  const failed = { status: 'failed', nextAt: null, doneAt: now } as const
  yield* rows(q.update(deliveries).set(failed).where(waiting).returning({ id: deliveries.id }))
}

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

export function outcomes(db: Db) {
  const { webhooks, webhookDeliveries: deliveries } = db.tables
  const outcome: (keyof DeliveryRow)[] = [
    'status',
    'attempts',
    'since',
    'nextAt',
    'triedAt',
    'httpStatus',
    'durationMs',
    'error',
    'doneAt',
  ]

  /** Releases the next event of the subject. */
  function* promote(q: Query, { webhookId, subject }: DeliveryRow, now: Millis): Work<void> {
    const named = and(
      eq(deliveries.webhookId, webhookId),
      eq(deliveries.subject, subject),
      eq(deliveries.status, 'pending'),
    )
    const next = yield* first(
      q
        .select()
        .from(deliveries)
        .where(named)
        .orderBy(asc(deliveries.place), asc(deliveries.id))
        .limit(1),
    )
    if (next?.nextAt === null) yield* update(deliveries, [{ ...next, nextAt: now }], ['nextAt'])
  }

  function* postpone(q: Query, webhookId: string, nextAt: Millis): Work<void> {
    const sooner = and(
      eq(deliveries.webhookId, webhookId),
      eq(deliveries.status, 'pending'),
      lt(deliveries.nextAt, nextAt),
    )
    yield* rows(q.update(deliveries).set({ nextAt }).where(sooner).returning({ id: deliveries.id }))
  }

  return {
    /**
     * Stores the outcome of an attempt, unless its endpoint is gone or another node stored one
     * before. A delivery of an endpoint that was disabled meanwhile stays ended.
     */
    settle: ({ row, webhook, isOver, postponedTo }: Outcome, now: Millis): Promise<void> =>
      db.write(function* (q) {
        const [hook] = yield* lockWebhooks(db, q, [webhook.id])
        const named = q.select().from(deliveries).where(eq(deliveries.id, row.id))
        const current = yield* first(named)
        if (!hook || current?.attempts !== row.attempts - 1) return
        if (current.status !== 'pending' && row.status !== 'delivered') return
        yield* update(deliveries, [row], outcome)
        yield* update(webhooks, [webhook], ['failingSince'])
        if (isOver) {
          const disabled = { ...webhook, disabledAt: now, disabledReason: 'failing' as const }
          yield* update(webhooks, [disabled], ['disabledAt', 'disabledReason'])
          yield* failWaiting(db, q, webhook.id, now)
          return
        }
        if (row.status !== 'pending') yield* promote(q, row, now)
        if (postponedTo !== undefined) yield* postpone(q, webhook.id, postponedTo)
      }),
    /**
     * Sends a delivery again, or now if it waits for its next attempt. Undefined if it waits behind
     * another one of its subject, or if its endpoint is disabled.
     */
    again: ({ id, webhookId }: DeliveryRow, now: Millis): Promise<DeliveryRow | undefined> =>
      db.write(function* (q) {
        const [hook] = yield* lockWebhooks(db, q, [webhookId])
        const current = yield* first(q.select().from(deliveries).where(eq(deliveries.id, id)))
        if (hook?.disabledAt !== null || !current) return undefined
        const isWaiting = current.status === 'pending'
        if (isWaiting && current.nextAt === null) return undefined
        const since = isWaiting ? current.since : now
        const row = { ...current, status: 'pending' as const, since, nextAt: now, doneAt: null }
        yield* update(deliveries, [row], ['status', 'since', 'nextAt', 'doneAt'])
        return row
      }),
  }
}
