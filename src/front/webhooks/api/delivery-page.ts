/** Reads the page of deliveries that a query asks for. */
import { isId } from '../../../kernel/ids.ts'
import type { PageRequest } from '../../../kernel/pagination.ts'
import { refuse } from '../../../kernel/refusal.ts'
import { readPage } from '../../../web/http/query.ts'

/** @throws Refusal `invalid_request` with `param` */
export function readDeliveryPage(query: URLSearchParams): PageRequest {
  const page = readPage(query)
  if (page.after !== undefined && !isId('dlv', page.after)) {
    refuse('invalid_request', { param: 'after', message: 'There is no such delivery.' })
  }
  return page
}
