/** Serves a witness over HTTP. */
import type { Clock } from '../kernel/clock.ts'
import { type Answer, submissionBytes, type Witness } from '../proof/witnessing/witness.ts'
import { clientAddress, rateKey, trustedProxies } from '../web/http/client-address.ts'
import type { Listen } from '../web/http/host.ts'
import { makeLimiter } from '../web/http/limits.ts'
import { serveRequests } from '../web/http/serve.ts'

/** Counts requests of a witness's clients; memory is bounded. */
export const witnessLimits = (clock: Pick<Clock, 'monotonic'>) => makeLimiter(clock, 20_000).take

/** How long a client may take to send a submission, in ms. */
const bodyWithinMs = 10_000

/**
 * Listens; the caller stops the server. Clients behind one of `proxies` (addresses and CIDR blocks)
 * are counted by what it says of them in X-Forwarded-For.
 * @throws Error naming the proxy that is neither
 */
export function serveWitness(
  witness: Witness,
  listen: Listen,
  proxies: readonly string[] = [],
): Bun.Server<undefined> {
  const isTrusted = trustedProxies(proxies)
  const server: Bun.Server<undefined> = serveRequests(async (request) => {
    const network = rateKey(clientAddress(request, server, isTrusted))
    return toResponse(await answer(witness, request, network))
  }, listen)
  return server
}

async function answer(witness: Witness, request: Request, address: string): Promise<Answer> {
  const { pathname } = new URL(request.url)
  const busy = witness.admit(address)
  if (busy) return busy
  if (pathname === '/add-checkpoint') {
    if (request.method !== 'POST') return notAllowed('POST')
    const body = await readBody(request)
    return typeof body === 'string' ? witness.addCheckpoint(body) : body
  }
  if (request.method !== 'GET' && request.method !== 'HEAD') return notAllowed('GET, HEAD')
  if (pathname === '/') return witness.about()
  const [, hash] = /^\/([0-9a-f]{64})\/checkpoint$/.exec(pathname) ?? []
  return hash === undefined ? said(404, 'There is no such path.') : witness.checkpoint(hash)
}

/** The text of a body, or why it was not read. */
async function readBody(request: Request): Promise<string | Answer> {
  const pieces: Uint8Array[] = []
  let size = 0
  const reader = request.body?.getReader()
  const late = setTimeout(() => void reader?.cancel(), bodyWithinMs)
  try {
    for (let next = await reader?.read(); next && !next.done; next = await reader?.read()) {
      size += next.value.length
      if (size > submissionBytes) {
        await reader?.cancel()
        return said(413, `A submission has at most ${submissionBytes} bytes.`)
      }
      pieces.push(next.value)
    }
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.concat(pieces))
  } catch {
    return said(400, 'The body is not UTF-8, or did not come whole.')
  } finally {
    clearTimeout(late)
  }
}

const said = (status: number, words: string): Answer => ({ status, text: `${words}\n` })

const notAllowed = (allow: string): Answer => ({
  ...said(405, 'This path takes another method.'),
  headers: { allow },
})

function toResponse({ status, text, headers }: Answer): Response {
  const plain = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' }
  return new Response(text, { status, headers: { ...plain, ...headers } })
}
