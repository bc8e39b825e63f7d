/** The operator's webhooks, which follow the configuration. */

import type { WebhookConfig } from '../config/webhook-entries.ts'
import type { Millis } from '../kernel/clock.ts'
import type { WebhookRow } from '../storage/db/schema/schema.ts'
import type { Deps } from './deps-port.ts'

const idOf = ({ id }: WebhookConfig): string => `operator:${id}`

/** Their signing secrets by id, which are never stored. */
export const operatorSecrets = (configured: readonly WebhookConfig[]): Map<string, string> =>
  new Map(configured.flatMap((one) => (one.secret ? [[idOf(one), one.secret]] : [])))

/**
 * Stores the webhooks of the configuration. A new one gets no earlier events; one that was
 * disabled for failing is enabled again.
 */
export async function followConfigured(
  { webhooks, clock }: Pick<Deps, 'webhooks' | 'clock'>,
  configured: readonly WebhookConfig[],
): Promise<void> {
  if (configured.length === 0 && (await webhooks.list('')).length === 0) return
  await webhooks.sync(configured.map((one) => toRow(one, clock.now())))
}

const toRow = (one: WebhookConfig, now: Millis): WebhookRow => ({
  id: idOf(one),
  accountId: '',
  url: one.url,
  events: one.events,
  description: one.id,
  format: one.format,
  secret: null,
  oldSecret: null,
  oldUntil: null,
  createdAt: now,
  disabledAt: null,
  disabledReason: null,
  madeBy: null,
  failingSince: null,
  dropped: 0,
})
