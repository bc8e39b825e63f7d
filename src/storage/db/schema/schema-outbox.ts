/** Tables of the outbox: events, the endpoints they go to, and their deliveries. */
import { sql } from 'drizzle-orm'
import type { Json } from '../../../kernel/canonical.ts'
import type { EventType } from '../../outbox/event.ts'
import type { Columns } from './columns.ts'

/** One attempt to deliver an event, as the page of the delivery shows it. */
export type DeliveryTry = {
  at: number
  status: number | null
  ms: number
  error: string | null
  /** The start of the answer; null if none came, or if its server is not on the public internet. */
  answer: string | null
  /** How it was sent; null if nothing could be. The webhook may have been changed since. */
  to: DeliveryTarget | null
}

/** The parts of a request that its webhook and this program gave. */
export type DeliveryTarget = {
  host: string
  format: 'standard' | 'slack' | 'discord'
  /** Its `user-agent`, which names the version. */
  agent: string
}

export function outboxTables(c: Columns) {
  /**
   * Events, written in the transaction that made them true. A job routes each to its endpoints
   * (`routedAt`), and deletes it together with its last delivery.
   */
  const events = c.table(
    'events',
    {
      id: c.text('id').primaryKey(),
      type: c.text('type').$type<EventType | 'webhook.test'>().notNull(),
      /** Empty for what concerns the operator alone. */
      accountId: c.text('account_id').notNull(),
      /** Events of one subject are delivered in the order of their places. */
      subject: c.text('subject').notNull(),
      /** Grows with each event of an account, whichever process wrote it. */
      place: c.ms('place').notNull(),
      at: c.ms('at').notNull(),
      data: c.json<Record<string, Json>>('data').notNull(),
      routedAt: c.ms('routed_at'),
    },
    (t) => [c.index('events_by_routing').on(t.routedAt, t.place)],
  )

  /** Endpoints of events. Those of the operator have no account and follow the configuration. */
  const webhooks = c.table(
    'webhooks',
    {
      id: c.text('id').primaryKey(),
      accountId: c.text('account_id').notNull(),
      url: c.text('url').notNull(),
      events: c.json<EventType[]>('events').notNull(),
      description: c.text('description').notNull(),
      format: c.text('format').$type<'standard' | 'slack' | 'discord'>().notNull(),
      /** The encrypted signing secret; null if the configuration has it. */
      secret: c.bytes('secret'),
      /** The secret before the last rotation, which signs beside the new one until `oldUntil`. */
      oldSecret: c.bytes('old_secret'),
      oldUntil: c.ms('old_until'),
      createdAt: c.ms('created_at').notNull(),
      /** Null while it is sent to. */
      disabledAt: c.ms('disabled_at'),
      disabledReason: c.text('disabled_reason').$type<'owner' | 'failing' | 'leak'>(),
      /** The key or wallet that chose its address; null for those of the configuration. */
      madeBy: c.text('made_by'),
      /** When the failures began that no success has ended. */
      failingSince: c.ms('failing_since'),
      /** Events that were not queued, because too many were waiting. */
      dropped: c.ms('dropped').notNull(),
    },
    (t) => [c.index('webhooks_by_account').on(t.accountId, t.id)],
  )

  /** An event on its way to one endpoint, and what became of it. */
  const webhookDeliveries = c.table(
    'webhook_deliveries',
    {
      id: c.text('id').primaryKey(),
      webhookId: c.text('webhook_id').notNull(),
      eventId: c.text('event_id').notNull(),
      type: c.text('type').notNull(),
      subject: c.text('subject').notNull(),
      place: c.ms('place').notNull(),
      status: c.text('status').$type<'pending' | 'delivered' | 'failed'>().notNull(),
      attempts: c.int('attempts').notNull(),
      /** When its tries began: they end three days later. */
      since: c.ms('since').notNull(),
      /** When it is tried next; null while an earlier event of its subject has not arrived. */
      nextAt: c.ms('next_at'),
      /** The time of the last try; the next three columns are its result. */
      triedAt: c.ms('tried_at'),
      httpStatus: c.int('http_status'),
      durationMs: c.ms('duration_ms'),
      error: c.text('error'),
      /** The last tries, the oldest first. */
      tries: c.json<DeliveryTry[]>('tries').notNull(),
      doneAt: c.ms('done_at'),
    },
    (t) => [
      c.index('webhook_deliveries_by_webhook').on(t.webhookId, t.id),
      c.index('webhook_deliveries_by_event').on(t.eventId),
      c.index('webhook_deliveries_due').on(t.nextAt).where(sql`${t.status} = 'pending'`),
      c
        .index('webhook_deliveries_in_order')
        .on(t.webhookId, t.subject, t.place)
        .where(sql`${t.status} = 'pending'`),
      c.index('webhook_deliveries_done').on(t.doneAt).where(sql`${t.doneAt} is not null`),
    ],
  )

  return { events, webhooks, webhookDeliveries }
}
