/** The webhooks that commands of the ledger add. */
import { definePart } from '../../ledger/part.ts'
import type { WebhookRow } from '../../storage/db/schema/schema.ts'
import { insert } from '../../storage/db/sql/query-steps.ts'

export const webhookRows = definePart({
  name: 'webhooks',
  rank: 60,
  empty: (): WebhookRow[] => [],
  write: ({ tables }, rows) => insert(tables.webhooks, rows),
  kept: (rows) => rows,
})
