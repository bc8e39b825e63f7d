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

/** Locks webhooks before it reads their deliveries, in the order of every writer of both. */
export function* lockWebhooks(db: Db, q: Query, ids: readonly string[]): Work<void> {
  const { webhooks } = db.tables
  if (ids.length === 0) return
  const { id } = webhooks
  const named = q
    .select({ id })
    .from(webhooks)
    .where(inArray(id, [...ids]))
  yield* lockedRows(named.orderBy(asc(id)))
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
    /** Stores the outcome of an attempt, unless its endpoint is gone. */
    settle: ({ row, webhook, isOver, postponedTo }: Outcome, now: Millis): Promise<void> =>
      db.write(function* (q) {
        yield* lockWebhooks(db, q, [webhook.id])
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
    again: (row: DeliveryRow): Promise<void> => db.write(() => update(deliveries, [row], outcome)),
  }
}
