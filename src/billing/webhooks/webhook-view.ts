/** Webhooks and their deliveries as they are shown. */
import { type Millis, timeOrNull, toRfc3339 } from '../../kernel/clock.ts'
import type { WebhookRow } from '../../storage/db/schema/schema.ts'
import type { DeliveryTarget } from '../../storage/db/schema/schema-outbox.ts'
import { makeMessages } from './message.ts'
import type { DeliveryAnswer, DeliveryDetailAnswer, WebhookAnswer } from './shapes.ts'
import type { ListedDelivery, ToldDelivery } from './store.ts'

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

export const toDeliveryView = (row: ListedDelivery): DeliveryAnswer => ({
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

export const agentOf = (version: string): string => `Counterfoil/${version}`

/** Returns the headers that every try sends; the time and the signature differ with each. */
export const headersOf = (event: { id: string }, agent: string): Record<string, string> => ({
  'content-type': 'application/json',
  'user-agent': agent,
  'webhook-id': event.id,
})

/** How the last attempt was sent; before the first, how it will be by this program. */
export const targetOf = (
  { delivery }: ToldDelivery,
  { url, format }: WebhookRow,
  version: string,
): DeliveryTarget =>
  delivery.tries.findLast(({ to }) => to !== null)?.to ?? {
    host: URL.parse(url)?.host ?? '',
    format,
    agent: agentOf(version),
  }

/** A delivery with its stored event and every answer. `version` is that of this program. */
export const toDeliveryDetailView = (
  told: ToldDelivery,
  webhook: WebhookRow,
  version: string,
): DeliveryDetailAnswer => {
  const { delivery, event } = told
  const { format, agent } = targetOf(told, webhook, version)
  return {
    ...toDeliveryView(delivery),
    webhook_id: webhook.id,
    url: webhook.url,
    headers: headersOf(event, agent),
    body: makeMessages()(event, format),
    tries: delivery.tries.map(({ at, status, ms, error, answer, to }) => ({
      at: toRfc3339(at),
      http_status: status,
      duration_ms: ms,
      error,
      answer,
      host: to?.host ?? null,
      format: to?.format ?? null,
      user_agent: to?.agent ?? null,
    })),
  }
}
