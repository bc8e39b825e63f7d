/** Answers a repeated call that made a webhook: with the webhook, and without its secret. */
import type { Deps } from '../../../app/deps-port.ts'
import { type Once, onceOf } from '../../../ledger/once.ts'
import type { WebhookRow } from '../../../storage/db/schema/schema.ts'
import type { Call } from '../../../storage/idempotency/call.ts'
import { jsonReply } from '../../../web/http/answer-once.ts'
import { toWebhookView } from '../webhook-view.ts'

export const onceShown = (
  deps: Pick<Deps, 'replies' | 'settings'>,
  call: Call | undefined,
): Once<WebhookRow> | undefined =>
  call &&
  onceOf<WebhookRow>(deps, call, (row, now) =>
    jsonReply(201, {}, { ...toWebhookView(row, now), secret: null }),
  )
