/** The webhooks that commands of the ledger add. */
import { definePart } from '../../ledger/part.ts'
import { insert } from '../../storage/db/query-steps.ts'
import type { WebhookRow } from '../../storage/db/schema.ts'

export const webhookRows = definePart({
  name: 'webhooks',
  rank: 60,
  empty: (): WebhookRow[] => [],
  write: ({ tables }, rows) => insert(tables.webhooks, rows),
  kept: (rows) => rows,
})
