/** The signing secrets of an endpoint: sealed in its row, or from the configuration. */
import type { Deps } from '../../app/deps-port.ts'
import type { Millis } from '../../kernel/clock.ts'
import type { WebhookRow } from '../../storage/db/schema/schema.ts'

/** Two during a rotation; none if the signer key changed, because they cannot be decrypted. */
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
