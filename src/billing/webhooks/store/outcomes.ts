/** Stores the outcomes of attempts, and releases the next event of a subject. */
import { and, asc, eq, inArray, lt } from 'drizzle-orm'
import type { Millis } from '../../../kernel/clock.ts'
import type { Db } from '../../../storage/db/engine/db.ts'
import type { AuditRow, DeliveryRow, WebhookRow } from '../../../storage/db/schema/schema.ts'
import {
  findRows,
  first,
  insert,
  prepared,
  type Query,
  rows,
  together,
  update,
  type Work,
} from '../../../storage/db/sql/query-steps.ts'
import { type Outcome, outcomeOf } from '../retry.ts'
import { type AttemptResult, dueAt, isUrgent, isUrgentType, urgentTypes } from '../webhook.ts'
import { byId, lockWebhooks } from './lock.ts'
import type { DueDelivery } from './outbox.ts'

/** An attempt that ended. */
export type EndedDelivery = { due: DueDelivery; tried: AttemptResult; at: Millis }

/** The result of storing some attempts. */
export type DeliveryTransition = {
  rows: DeliveryRow[]
  /** Endpoints that are disabled now. */
  disabled: WebhookRow[]
  /** Whether another event of a subject is due now. */
  hasReleased: boolean
}

/** Fails the waiting deliveries of an endpoint that was disabled. */
export function* failWaiting(db: Db, q: Query, webhookId: string, now: Millis): Work<void> {
  const { webhookDeliveries: deliveries } = db.tables
  const waiting = and(eq(deliveries.webhookId, webhookId), eq(deliveries.status, 'pending'))
  const failed = { status: 'failed', nextAt: null, doneAt: now } as const
  yield* rows(q.update(deliveries).set(failed).where(waiting).returning({ id: deliveries.id }))
}

const outcomeFields: (keyof DeliveryRow)[] = [
  'status',
  'attempts',
  'since',
  'nextAt',
  'triedAt',
  'httpStatus',
  'durationMs',
  'error',
  'tries',
  'doneAt',
]

export function outcomes(db: Db) {
  const { webhooks, webhookDeliveries: deliveries, auditEntries } = db.tables

  /** Makes the next event of the subject due, at once if this one was: one behind it is urgent. */
  function* promote(
    q: Query,
    ended: DeliveryRow,
    { now, settled }: { now: Millis; settled: DeliveryTransition },
  ): Work<void> {
    const { webhookId, subject } = ended
    const line = { webhookId, subject }
    const [next] = yield* prepared('webhook_delivery.next', line, (values) =>
      q
        .select()
        .from(deliveries)
        .where(
          and(
            eq(deliveries.webhookId, values.webhookId),
            eq(deliveries.subject, values.subject),
            eq(deliveries.status, 'pending'),
          ),
        )
        .orderBy(asc(deliveries.place), asc(deliveries.id))
        .limit(1),
    )
    if (next?.nextAt !== null) return
    settled.hasReleased = true
    const nextAt = dueAt(isUrgent(ended) || isUrgentType(next.type), now)
    yield* update(deliveries, [{ ...next, nextAt }], ['nextAt'])
  }

  function* postpone(q: Query, webhookId: string, nextAt: Millis): Work<void> {
    const sooner = and(
      eq(deliveries.webhookId, webhookId),
      eq(deliveries.status, 'pending'),
      lt(deliveries.nextAt, nextAt),
    )
    const { id, type } = deliveries
    yield* rows(q.update(deliveries).set({ nextAt }).where(sooner).returning({ id }))
    // Urgent ones stay before the others.
    const urgent = and(
      eq(deliveries.webhookId, webhookId),
      eq(deliveries.status, 'pending'),
      eq(deliveries.nextAt, nextAt),
      inArray(type, urgentTypes),
    )
    const before = { nextAt: nextAt - 1 }
    yield* rows(q.update(deliveries).set(before).where(urgent).returning({ id }))
  }

  function* settle(
    q: Query,
    ended: readonly EndedDelivery[],
    now: Millis,
  ): Work<DeliveryTransition> {
    const settled: DeliveryTransition = { rows: [], disabled: [], hasReleased: false }
    const hookIds = new Set(ended.map(({ due }) => due.webhook.id))
    const hooks = byId(yield* lockWebhooks(db, q, [...hookIds]))
    const ids = ended.map(({ due }) => due.delivery.id)
    const current = byId(yield* findRows(deliveries, { id: ids }))
    const changed = new Set<WebhookRow>()
    const over = new Set<WebhookRow>()
    const postponed = new Map<string, Millis>()
    for (const one of ended) {
      const webhook = hooks.get(one.due.webhook.id)
      const delivery = current.get(one.due.delivery.id)
      const outcome = webhook && delivery && toOutcome(one, webhook, delivery)
      if (!outcome) continue
      settled.rows.push(outcome.row)
      if (webhook.failingSince !== outcome.failingSince) changed.add(webhook)
      webhook.failingSince = outcome.failingSince
      if (outcome.isOver) over.add(webhook)
      if (outcome.postponedTo !== undefined) postponed.set(webhook.id, outcome.postponedTo)
    }
    yield* update(deliveries, settled.rows, outcomeFields)
    yield* update(webhooks, [...changed], ['failingSince'])
    const done = settled.rows.filter(({ status }) => status !== 'pending')
    const before = done.map((row) => current.get(row.id) ?? row)
    yield* together(before.map((row) => promote(q, row, { now, settled })))
    for (const [id, nextAt] of postponed) yield* postpone(q, id, nextAt)
    for (const webhook of over) {
      const disabled = { ...webhook, disabledAt: now, disabledReason: 'failing' as const }
      yield* update(webhooks, [disabled], ['disabledAt', 'disabledReason'])
      // Last, so that it also ends what was postponed and released here.
      yield* failWaiting(db, q, webhook.id, now)
      settled.disabled.push(disabled)
    }
    return settled
  }

  return {
    /**
     * Stores the outcomes of attempts in one transaction, each unless its endpoint is gone or
     * another node stored one before. A delivery of an endpoint that was disabled meanwhile stays
     * ended.
     */
    settle: (ended: readonly EndedDelivery[], now: Millis): Promise<DeliveryTransition> =>
      db.write((q) => settle(q, ended, now)),
    /**
     * Sends a delivery again, or now if it waits for its next attempt. Undefined if it waits behind
     * another one of its subject, or if its endpoint is disabled.
     */
    again: (
      { id, webhookId }: DeliveryRow,
      now: Millis,
      audit: AuditRow,
    ): Promise<DeliveryRow | undefined> =>
      db.write(function* (q) {
        const [hook] = yield* lockWebhooks(db, q, [webhookId])
        const current = yield* first(q.select().from(deliveries).where(eq(deliveries.id, id)))
        if (hook?.disabledAt !== null || !current) return undefined
        const isWaiting = current.status === 'pending'
        if (isWaiting && current.nextAt === null) return undefined
        const since = isWaiting ? current.since : now
        const row = { ...current, status: 'pending' as const, since, nextAt: now, doneAt: null }
        yield* update(deliveries, [row], ['status', 'since', 'nextAt', 'doneAt'])
        yield* insert(auditEntries, [audit])
        return row
      }),
  }
}

/** Undefined if another outcome was stored first, or if a failure comes too late to count. */
function toOutcome(
  { due, tried, at }: EndedDelivery,
  webhook: WebhookRow,
  delivery: DeliveryRow,
): Outcome | undefined {
  if (delivery.attempts !== due.delivery.attempts) return undefined
  const wasFailing = due.webhook.failingSince !== null
  const outcome = outcomeOf({ delivery, webhook, wasFailing }, tried, at)
  const isLate = delivery.status !== 'pending' && outcome.row.status !== 'delivered'
  return isLate ? undefined : outcome
}
