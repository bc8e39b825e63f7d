/** Refuses cross-site requests. */
import { refuse } from '../../kernel/refusal.ts'

/**
 * Refuses an unsafe request that a page of another origin sent, other ports of the same host
 * included, which SameSite lets through. Browsers say where a request comes from in
 * `Sec-Fetch-Site`, older ones in `Origin`; a caller with neither is not a
 * browser, because no page can suppress both.
 * @throws Refusal 'csrf_failed'
 */
export function assertSameOrigin(
  { method, headers }: Pick<Request, 'method' | 'headers'>,
  baseUrl: string,
): void {
  if (method === 'GET' || method === 'HEAD' || method === 'OPTIONS') return
  const site = headers.get('sec-fetch-site')
  const origin = headers.get('origin')
  if (site !== null) {
    if (site !== 'same-origin' && site !== 'none') refuse('csrf_failed')
  } else if (origin !== null && origin !== baseUrl) refuse('csrf_failed')
}
