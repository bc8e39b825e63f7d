/** Follows the list of an account's receipts, which are of its ended runs. */
import type { Deps } from '../../app/deps-port.ts'
import { type Actor, zoneOf } from '../../kernel/acting.ts'
import { readReceiptFilter } from '../../proof/receipts/api/receipt-query.ts'
import { receiptsLook } from '../../proof/receipts/portal/receipt-list.tsx'
import { receiptIdOf, runIdOf } from '../../proof/receipts/receipt.ts'
import { type ShownReceipt, toShown } from '../../proof/receipts/shown-receipt.ts'
import type { SessionRow } from '../../storage/db/schema/schema.ts'
import { queryOf } from '../../web/http/query.ts'
import type { SseContext } from '../../web/http/sse.ts'
import { freshRow } from '../../web/ui/list-page.tsx'
import { followRows, newsMax, type Rows, shownIn } from '../api/follow-rows.ts'

/** New receipts, and how far those that the page shows have come. */
export function followReceipts(
  deps: Deps,
  context: SseContext,
  { session, acting }: { session: SessionRow; acting: Actor },
): Response {
  const query = queryOf(context.request)
  const { account } = acting
  const filter = readReceiptFilter(query, deps, acting.zone)
  const rows: Rows<ShownReceipt> = {
    newer: async (after) => {
      const isFirst = after === '' || runIdOf(after) < filter.since
      const since = isFirst ? filter.since : runIdOf(after)
      const page = { limit: newsMax, after: undefined }
      const { items } = await deps.receipts.listShown(acting, { ...filter, since }, page)
      return items.map(({ id }) => receiptIdOf(id)).filter((id) => id !== after)
    },
    read: async (ids) => {
      const found = await deps.runs.endedAmong(acting, ids.map(runIdOf))
      return toShown(
        deps,
        account,
        found.map(({ run }) => run),
      )
    },
    idOf: ({ run }) => receiptIdOf(run.id),
    markOf: ({ stage, visibility }) => `${stage} ${visibility}`,
    isSettled: ({ stage }) => stage === 'final',
    draw: (shown) =>
      freshRow(shown, receiptsLook({ now: deps.clock.now(), models: [], zone: zoneOf(acting) })),
  }
  return followRows(deps, context, { session, account }, rows, shownIn(query, 'rcpt'))
}
