/** Routes events to the endpoints that subscribe to them, and reads the deliveries that are due. */
import { and, asc, eq, getTableColumns, inArray, isNull, lte, notInArray } from 'drizzle-orm'
import type { Millis } from '../../../kernel/clock.ts'
import type { Ids } from '../../../kernel/ids.ts'
import { isFunded } from '../../../ledger/free-writes.ts'
import type { Db } from '../../../storage/db/engine/db.ts'
import {
  assertLease,
  type Lease,
  type LeaseTime,
  takeLease,
} from '../../../storage/db/engine/lease.ts'
import { leaseMs } from '../../../storage/db/engine/lease-clock.ts'
import type { DeliveryRow, EventRow, WebhookRow } from '../../../storage/db/schema/schema.ts'
import {
  findRows,
  first,
  insert,
  lockedRows,
  type Query,
  rows,
  update,
  type Work,
} from '../../../storage/db/sql/query-steps.ts'
import { aheadUntil, dueAt, isUrgentType, maxUrgentWaiting, maxWaiting, wants } from '../webhook.ts'
import { byId, lockWebhooks } from './lock.ts'
import { countWaiting } from './waiting.ts'

/** A delivery with its event and its endpoint, and whether its account ever had money. */
export type DueDelivery = {
  /** Without the answers of its tries: thousands of these are in memory. */
  delivery: Omit<DeliveryRow, 'tries'>
  event: EventRow
  webhook: WebhookRow
  isFunded: boolean
}

/** Endpoints and accounts whose deliveries are not wanted now. */
export type Busy = { hooks: ReadonlySet<string>; accounts: ReadonlySet<string> }

/** How many due deliveries are wanted, and whether only urgent ones. */
export type DueRequest = { limit: number; busy: Busy; isUrgent?: boolean }

/** Events routed in one transaction. */
const routedAtOnce = 200
const leaseName = 'webhooks'

export type OutboxNeeds = { clock: LeaseTime; node: string; ids: Pick<Ids, 'make'> }

export function outbox(db: Db, { clock, node, ids }: OutboxNeeds) {
  const { events, webhooks, webhookDeliveries: deliveries } = db.tables
  const unrouted = isNull(events.routedAt)

  /** The subjects, among these, that an endpoint already has deliveries waiting for. */
  function* held(q: Query, hooks: string[], subjects: string[]): Work<Set<string>> {
    const { webhookId, subject } = deliveries
    const named = and(
      inArray(webhookId, hooks),
      inArray(subject, subjects),
      eq(deliveries.status, 'pending'),
    )
    const found = yield* rows(
      q.selectDistinct({ webhookId, subject }).from(deliveries).where(named),
    )
    return new Set(found.map((one) => `${one.webhookId} ${one.subject}`))
  }

  /** Makes the first event of a subject go ahead, unless it failed and waits for a while. */
  function* hurry(q: Query, { webhookId, subject }: DeliveryRow, now: Millis): Work<void> {
    const first = and(
      eq(deliveries.webhookId, webhookId),
      eq(deliveries.subject, subject),
      eq(deliveries.status, 'pending'),
      lte(deliveries.nextAt, now),
    )
    const nextAt = dueAt(true, now)
    yield* rows(q.update(deliveries).set({ nextAt }).where(first).returning({ id: deliveries.id }))
  }

  function* route(q: Query, found: EventRow[], now: Millis): Work<void> {
    const accounts = [...new Set([...found.map(({ accountId }) => accountId), ''])]
    // An attempt that ends meanwhile releases the next event of its subject, so it must see these;
    // an endpoint that is disabled meanwhile gets none.
    const hooks = yield* lockedRows(
      q
        .select()
        .from(webhooks)
        .where(inArray(webhooks.accountId, accounts))
        .orderBy(asc(webhooks.id)),
    )
    const targets = found.flatMap((event) =>
      hooks
        .filter((hook) => hook.accountId === '' || hook.accountId === event.accountId)
        .filter((hook) => wants(hook, event))
        .map((hook) => ({ event, hook })),
    )
    const room = new Map<string, number>()
    for (const { hook } of targets) {
      if (!room.has(hook.id)) room.set(hook.id, maxWaiting - (yield* countWaiting(db, q, hook.id)))
    }
    const behind =
      targets.length === 0
        ? new Set<string>()
        : yield* held(q, [...room.keys()], [...new Set(targets.map(({ event }) => event.subject))])
    /** The first of each subject among those that are added. */
    const heads = new Map<string, DeliveryRow>()
    const hurried: DeliveryRow[] = []
    const added: DeliveryRow[] = []
    const dropping = new Set<WebhookRow>()
    for (const { event, hook } of targets) {
      const left = room.get(hook.id) ?? 0
      const urgent = isUrgentType(event.type)
      if (left <= (urgent ? -maxUrgentWaiting : 0)) {
        hook.dropped += 1
        dropping.add(hook)
        continue
      }
      room.set(hook.id, left - 1)
      const line = `${hook.id} ${event.subject}`
      const head = heads.get(line)
      const isBehind = head !== undefined || behind.has(line)
      const nextAt = isBehind ? null : dueAt(urgent, now)
      const row = { ...toDelivery(event, hook.id, now), id: ids.make('dlv'), nextAt }
      added.push(row)
      if (!isBehind) heads.set(line, row)
      // It does not overtake events of its subject: those before it go ahead with it.
      if (urgent && head) head.nextAt = dueAt(true, now)
      else if (urgent && isBehind) hurried.push(row)
    }
    yield* insert(deliveries, added)
    for (const row of hurried) yield* hurry(q, row, now)
    yield* update(webhooks, [...dropping], ['dropped'])
    const kept = new Set(added.map(({ eventId }) => eventId))
    const routed = found.filter(({ id }) => kept.has(id)).map(({ id }) => ({ id, routedAt: now }))
    yield* update(events, routed, ['routedAt'])
    const unwanted = found.filter(({ id }) => !kept.has(id)).map(({ id }) => id)
    if (unwanted.length > 0)
      yield* rows(q.delete(events).where(inArray(events.id, unwanted)).returning({ id: events.id }))
  }

  return {
    /** How long after a renewal a node may send, in ms: another one may take the lease later. */
    sureMs: leaseMs - 2000,
    takeLease: (): Promise<Lease | undefined> => takeLease(db, clock, leaseName, node),
    /** Whether an event waits for routing, or a delivery is due. */
    hasWork: (now: Millis): Promise<boolean> =>
      db.read(function* (q) {
        const waiting = yield* first(
          q.select({ id: events.id }).from(events).where(unrouted).limit(1),
        )
        if (waiting) return true
        const due = and(eq(deliveries.status, 'pending'), lte(deliveries.nextAt, now))
        return (
          (yield* first(q.select({ id: deliveries.id }).from(deliveries).where(due).limit(1))) !==
          undefined
        )
      }),
    /** Routes the oldest events to subscribed endpoints; deletes events without a subscriber. */
    route: (lease: Lease, now: Millis): Promise<boolean> =>
      db.write(function* (q) {
        yield* assertLease(db, lease, clock.now())
        const next = q
          .select()
          .from(events)
          .where(unrouted)
          .orderBy(asc(events.place), asc(events.id))
        const found = yield* rows(next.limit(routedAtOnce))
        if (found.length > 0) yield* route(q, found, now)
        return found.length === routedAtOnce
      }),
    /** Adds a test event, for one endpoint alone; undefined if it was disabled meanwhile. */
    sendTo: (event: EventRow, webhookId: string, now: Millis): Promise<DeliveryRow | undefined> => {
      const row = { ...toDelivery(event, webhookId, now), id: ids.make('dlv'), nextAt: now }
      return db.write(function* (q) {
        const [hook] = yield* lockWebhooks(db, q, [webhookId])
        if (hook?.disabledAt !== null) return undefined
        yield* insert(events, [{ ...event, routedAt: now }])
        yield* insert(deliveries, [row])
        return row
      })
    },
  }
}

/** Reads what the sender needs. */
export function dueReads(db: Db) {
  const { accounts, events, webhooks, webhookDeliveries: deliveries } = db.tables
  const { tries: _, ...needed } = getTableColumns(deliveries)
  return {
    /**
     * The oldest due deliveries, without those of `busy` endpoints and accounts; before all others
     * those that go ahead, which `isUrgent` reads alone.
     */
    due: (now: Millis, { limit, busy, isUrgent = false }: DueRequest): Promise<DueDelivery[]> =>
      db.read(function* (q) {
        const { webhookId } = deliveries
        const theirs = q
          .select({ id: webhooks.id })
          .from(webhooks)
          .where(inArray(webhooks.accountId, [...busy.accounts]))
        const ready = and(
          eq(deliveries.status, 'pending'),
          lte(deliveries.nextAt, isUrgent ? aheadUntil(now) : now),
          busy.hooks.size > 0 ? notInArray(webhookId, [...busy.hooks]) : undefined,
          busy.accounts.size > 0 ? notInArray(webhookId, theirs) : undefined,
        )
        const found = yield* rows(
          q
            .select(needed)
            .from(deliveries)
            .where(ready)
            .orderBy(asc(deliveries.nextAt), asc(deliveries.place))
            .limit(limit),
        )
        if (found.length === 0) return []
        const eventIds = [...new Set(found.map(({ eventId }) => eventId))]
        const hookIds = [...new Set(found.map((one) => one.webhookId))]
        const told = byId(yield* findRows(events, { id: eventIds }))
        const hooks = byId(yield* findRows(webhooks, { id: hookIds }))
        const owners = [...new Set([...hooks.values()].map(({ accountId }) => accountId))]
        const known = byId(yield* findRows(accounts, { id: owners }))
        return found.flatMap((delivery) => {
          const event = told.get(delivery.eventId)
          const webhook = hooks.get(delivery.webhookId)
          if (!event || webhook?.disabledAt !== null) return []
          const owner = known.get(webhook.accountId)
          const pays = webhook.accountId === '' || (owner !== undefined && isFunded(owner))
          return [{ delivery, event, webhook, isFunded: pays }]
        })
      }),
    /** The endpoints of these ids as they are now. */
    named: (ids: readonly string[]): Promise<Map<string, WebhookRow>> =>
      db.read(function* () {
        return byId(yield* findRows(webhooks, { id: ids }))
      }),
  }
}

const toDelivery = (event: EventRow, webhookId: string, now: Millis) => ({
  webhookId,
  eventId: event.id,
  type: event.type,
  subject: event.subject,
  place: event.place,
  status: 'pending' as const,
  attempts: 0,
  since: now,
  triedAt: null,
  httpStatus: null,
  durationMs: null,
  error: null,
  tries: [],
  doneAt: null,
})
