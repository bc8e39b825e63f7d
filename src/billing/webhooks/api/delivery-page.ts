/** Reads the page of deliveries that a query asks for. */
import type { Deps } from '../../../app/deps-port.ts'
import { isId } from '../../../kernel/ids.ts'
import type { Page, PageRequest } from '../../../kernel/pagination.ts'
import { refuse } from '../../../kernel/refusal.ts'
import { readPage } from '../../../web/http/query.ts'
import type { ListedDelivery } from '../store.ts'

/** The deliveries of a webhook. @throws Refusal `invalid_request` with `param` */
export async function readDeliveries(
  { webhooks }: Pick<Deps, 'webhooks'>,
  webhookId: string,
  query: URLSearchParams,
): Promise<Page<ListedDelivery> & Pick<PageRequest, 'after'>> {
  const page = readPage(query)
  const { after } = page
  // An id of another webhook is refused like one that does not exist.
  if (after !== undefined && !(isId('dlv', after) && (await webhooks.delivery(webhookId, after)))) {
    refuse('invalid_request', { param: 'after', message: 'There is no such delivery.' })
  }
  return { ...(await webhooks.deliveries(webhookId, page)), after }
}
