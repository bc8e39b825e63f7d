/** Answers GET /metrics on a listener of its own. */

import { expositionType } from '../../../kernel/exposition.ts'
import { hostCheck, isLoopback, type Listen } from '../../../web/http/host.ts'

/**
 * Answers `GET /metrics` and nothing else, on a listener of its own: it is never mounted beside
 * the API. On loopback it goes by loopback names only, so a page in a browser that leads its own
 * name there reads nothing.
 */
export function metricsDoor({ listen, read }: { listen: Listen; read: () => Promise<string> }) {
  const isLocal = hostCheck('http://localhost', listen)
  return async (request: Request): Promise<Response> => {
    const isRebound = isLoopback(listen.hostname) && !isLocal(request.headers.get('host'))
    if (isRebound) return plain(421, 'Ask for it by a loopback name.')
    if (URL.parse(request.url)?.pathname !== '/metrics') return plain(404, 'Only /metrics is here.')
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      return plain(405, 'Only GET.', { allow: 'GET, HEAD' })
    }
    return new Response(await read(), { headers: { ...common, 'content-type': expositionType } })
  }
}

const common = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }

const plain = (status: number, words: string, headers: Record<string, string> = {}): Response =>
  new Response(`${words}\n`, {
    status,
    headers: { ...common, 'content-type': 'text/plain; charset=utf-8', ...headers },
  })
