/** Webhooks and their deliveries as they are shown. */
import { type Millis, timeOrNull, toRfc3339 } from '../../kernel/clock.ts'
import type { DeliveryRow, WebhookRow } from '../../storage/db/schema/schema.ts'
import { makeMessages } from './message.ts'
import type { DeliveryAnswer, DeliveryDetailAnswer, WebhookAnswer } from './shapes.ts'
import type { ToldDelivery } from './store.ts'

export const toWebhookView = (row: WebhookRow, now: Millis): WebhookAnswer => ({
  id: row.id,
  object: 'webhook',
  url: row.url,
  events: row.events,
  description: row.description,
  format: row.format,
  enabled: row.disabledAt === null,
  disabled_reason: row.disabledReason,
  failing_since: timeOrNull(row.failingSince),
  dropped: row.dropped,
  created_at: toRfc3339(row.createdAt),
  old_secret_until: row.oldUntil !== null && row.oldUntil > now ? toRfc3339(row.oldUntil) : null,
})

export const toDeliveryView = (row: DeliveryRow): DeliveryAnswer => ({
  id: row.id,
  object: 'webhook_delivery',
  event_id: row.eventId,
  type: row.type,
  status: row.status,
  attempts: row.attempts,
  // Urgent ones are due before they are there.
  next_attempt_at: timeOrNull(row.nextAt === null ? null : Math.max(row.nextAt, row.since)),
  last_attempt_at: timeOrNull(row.triedAt),
  http_status: row.httpStatus,
  duration_ms: row.durationMs,
  error: row.error,
})

/** Returns the headers that every try sends; the time and the signature differ with each. */
export const headersOf = (event: { id: string }, version: string): Record<string, string> => ({
  'content-type': 'application/json',
  'user-agent': `Counterfoil/${version}`,
  'webhook-id': event.id,
})

/** A delivery with what was sent and every answer. `version` is that of this program. */
export const toDeliveryDetailView = (
  { delivery, event }: ToldDelivery,
  webhook: WebhookRow,
  version: string,
): DeliveryDetailAnswer => ({
  ...toDeliveryView(delivery),
  webhook_id: webhook.id,
  url: webhook.url,
  headers: headersOf(event, version),
  body: makeMessages()(event, webhook.format),
  tries: delivery.tries.map(({ at, status, ms, error, answer }) => ({
    at: toRfc3339(at),
    http_status: status,
    duration_ms: ms,
    error,
    answer,
  })),
})
