/** Finds one delivery of a webhook, and sends it again. */
import type { Deps } from '../../app/deps-port.ts'
import { isId } from '../../kernel/ids.ts'
import { refuse } from '../../kernel/refusal.ts'
import type { DeliveryRow } from '../../storage/db/schema/schema.ts'
import type { ToldDelivery } from './store.ts'
import { type RoomOwner, takeRoom } from './take-room.ts'
import { auditOf, findWebhook } from './webhooks.ts'

/** A delivery of a webhook with its event. @throws Refusal `not_found` */
export async function findDelivery(
  { webhooks }: Pick<Deps, 'webhooks'>,
  webhookId: string,
  id: string,
): Promise<ToldDelivery> {
  const found = isId('dlv', id) ? await webhooks.deliveryOf(webhookId, id) : undefined
  return found ?? refuse('not_found', 'There is no such delivery.')
}

/** Sends a delivery again, with the id of its event. */
export async function sendAgain(
  deps: Pick<Deps, 'webhooks' | 'clock' | 'ids' | 'ledger'>,
  asker: RoomOwner,
  { id, deliveryId }: { id: string; deliveryId: string },
): Promise<DeliveryRow> {
  const { webhooks, clock } = deps
  const webhook = await findWebhook(deps, asker.account, id)
  const { delivery: row } = await findDelivery(deps, id, deliveryId)
  if (webhook.disabledAt !== null) refuse('conflict', 'This webhook is disabled. Enable it first.')
  const audit = auditOf(deps, asker, webhook, 'webhook.resend', { delivery: deliveryId })
  await takeRoom(deps, asker, audit)
  const again = await webhooks.again(row, clock.now(), audit)
  return again ?? refuse('conflict', 'This delivery waits behind an earlier one of its subject.')
}
