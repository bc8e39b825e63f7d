/** Stores webhooks, and lists their deliveries. */
import { and, asc, desc, eq, getTableColumns, inArray, lt } from 'drizzle-orm'
import { type Page, type PageRequest, toPage } from '../../kernel/pagination.ts'
import type { Db } from '../../storage/db/engine/db.ts'
import type { AuditRow, DeliveryRow, EventRow, WebhookRow } from '../../storage/db/schema/schema.ts'
import { first, insert, lockedRows, rows, update } from '../../storage/db/sql/query-steps.ts'
import { lockWebhooks } from './store/lock.ts'
import { dueReads, type OutboxNeeds, outbox } from './store/outbox.ts'
import { failWaiting, outcomes } from './store/outcomes.ts'
import { pruning } from './store/prune.ts'
import { madeByKeys } from './store/stop-made.ts'
import { countWaiting } from './store/waiting.ts'

export type WebhookStore = ReturnType<typeof webhookStore>

export function webhookStore(db: Db, needs: OutboxNeeds) {
  return {
    ...webhookRows(db),
    ...secretRows(db),
    ...deliveryReads(db),
    ...outbox(db, needs),
    ...dueReads(db),
    ...outcomes(db),
    ...pruning(db),
    ...madeByKeys(db),
  }
}

function webhookRows(db: Db) {
  const { webhooks, webhookDeliveries: deliveries, auditEntries } = db.tables
  const own = (account: string, id: string) =>
    and(eq(webhooks.accountId, account), eq(webhooks.id, id))
  return {
    list: (account: string): Promise<WebhookRow[]> =>
      db.read((q) =>
        rows(
          q
            .select()
            .from(webhooks)
            .where(eq(webhooks.accountId, account))
            .orderBy(desc(webhooks.id)),
        ),
      ),
    find: (account: string, id: string): Promise<WebhookRow | undefined> =>
      db.read((q) => first(q.select().from(webhooks).where(own(account, id)))),
    change: (row: WebhookRow, fields: (keyof WebhookRow)[], audit: AuditRow): Promise<void> =>
      db.write(function* (q) {
        yield* lockWebhooks(db, q, [row.id])
        yield* update(webhooks, [row], fields)
        if (row.disabledAt !== null) yield* failWaiting(db, q, row.id, row.disabledAt)
        yield* insert(auditEntries, [audit])
      }),
    remove: ({ accountId, id }: WebhookRow, audit?: AuditRow): Promise<void> =>
      db.write(function* (q) {
        yield* rows(q.delete(webhooks).where(own(accountId, id)).returning())
        yield* rows(q.delete(deliveries).where(eq(deliveries.webhookId, id)).returning())
        if (audit) yield* insert(auditEntries, [audit])
      }),
    /** Removes a new webhook again if its account has more than `most`; one checks at a time. */
    dropBeyond: ({ accountId, id }: WebhookRow, most: number): Promise<boolean> =>
      db.write(function* (q) {
        const theirs = q.select().from(webhooks).where(eq(webhooks.accountId, accountId))
        const all = yield* lockedRows(theirs.orderBy(asc(webhooks.id)))
        if (all.length <= most) return false
        yield* rows(q.delete(webhooks).where(own(accountId, id)).returning())
        return true
      }),
    /** Sets the operator's webhooks to those of the configuration; known ones keep state. */
    sync: (configured: readonly WebhookRow[]): Promise<void> =>
      db.write(function* (q) {
        const known = yield* rows(q.select().from(webhooks).where(eq(webhooks.accountId, '')))
        const ids = configured.map(({ id }) => id)
        const gone = known.filter(({ id }) => !ids.includes(id)).map(({ id }) => id)
        if (gone.length > 0) {
          yield* rows(q.delete(webhooks).where(inArray(webhooks.id, gone)).returning())
          yield* rows(q.delete(deliveries).where(inArray(deliveries.webhookId, gone)).returning())
        }
        const fresh = configured.filter(({ id }) => !known.some((one) => one.id === id))
        yield* insert(webhooks, fresh)
        const same = configured.filter((one) => !fresh.includes(one))
        yield* update(webhooks, same, [
          'url',
          'events',
          'description',
          'format',
          'disabledAt',
          'disabledReason',
        ])
      }),
  }
}

/** Lists leave the tries out: up to a few KB each. */
export type ListedDelivery = Omit<DeliveryRow, 'tries'>

export type ToldDelivery = { delivery: DeliveryRow; event: EventRow }

function deliveryReads(db: Db) {
  const { events, webhookDeliveries: deliveries } = db.tables
  const { tries: _, ...listed } = getTableColumns(deliveries)
  return {
    deliveries: (webhookId: string, page: PageRequest): Promise<Page<ListedDelivery>> =>
      db.read(function* (q) {
        const after = page.after === undefined ? undefined : lt(deliveries.id, page.after)
        const named = and(eq(deliveries.webhookId, webhookId), after)
        const found = q.select(listed).from(deliveries).where(named).orderBy(desc(deliveries.id))
        return toPage(yield* rows(found.limit(page.limit + 1)), page.limit)
      }),
    delivery: (webhookId: string, id: string): Promise<DeliveryRow | undefined> =>
      db.read((q) => {
        const named = and(eq(deliveries.webhookId, webhookId), eq(deliveries.id, id))
        return first(q.select().from(deliveries).where(named))
      }),
    /** A delivery with its event. */
    deliveryOf: (webhookId: string, id: string): Promise<ToldDelivery | undefined> =>
      db.read(function* (q) {
        const named = and(eq(deliveries.webhookId, webhookId), eq(deliveries.id, id))
        const delivery = yield* first(q.select().from(deliveries).where(named))
        if (!delivery) return undefined
        const event = yield* first(q.select().from(events).where(eq(events.id, delivery.eventId)))
        return event && { delivery, event }
      }),
    waiting: (webhookId: string): Promise<number> => db.read((q) => countWaiting(db, q, webhookId)),
  }
}

function secretRows(db: Db) {
  const { webhooks, auditEntries } = db.tables
  return {
    /**
     * Stores the new secret of a webhook whose secret is still `known`. False if it was rotated
     * meanwhile, or removed: a secret that was shown and never signs would be of no use.
     */
    rotate: (row: WebhookRow, known: Uint8Array | null, audit: AuditRow): Promise<boolean> =>
      db.write(function* (q) {
        const [current] = yield* lockWebhooks(db, q, [row.id])
        if (!current || !isSame(current.secret, known)) return false
        yield* update(webhooks, [row], ['secret', 'oldSecret', 'oldUntil'])
        yield* insert(auditEntries, [audit])
        return true
      }),
  }
}

const isSame = (one: Uint8Array | null, other: Uint8Array | null): boolean =>
  one === null || other === null ? one === other : Buffer.compare(one, other) === 0
