/** The secrets that sign what an endpoint is sent: sealed in its row, or of the configuration. */
import type { Deps } from '../../app/deps-port.ts'
import type { Millis } from '../../kernel/clock.ts'
import type { WebhookRow } from '../../storage/db/schema.ts'

/** Two while a rotation goes on; none if they cannot be opened, after the signer key changed. */
export function secretsOf(
  { webhookSecrets, settings }: Pick<Deps, 'webhookSecrets' | 'settings'>,
  { id, secret, oldSecret, oldUntil }: WebhookRow,
  now: Millis,
): string[] {
  const configured = settings.webhookSecrets.get(id)
  if (configured !== undefined) return [configured]
  const isOldValid = oldUntil !== null && oldUntil > now
  const sealed = [secret, isOldValid ? oldSecret : null]
  return sealed.flatMap((one) => (one ? (webhookSecrets.open(one, id) ?? []) : []))
}
