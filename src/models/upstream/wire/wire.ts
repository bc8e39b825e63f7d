/**
 * The HTTP client for model servers, over sockets of our own or, through a proxy, by `fetch`: the
 * only file of this folder to import from outside.
 */
import { systemClock } from '../../../kernel/clock.ts'
import { request, type Wire } from '../http.ts'
import { longestRestMs, retryAfterIn } from '../retry-after.ts'
import { UpstreamFailure } from '../upstream.ts'
import { Exchange } from './exchange.ts'
import { makeLines } from './lines.ts'

/** Proxies that the environment names are known to `fetch` alone. */
export const openWire = (url: string, options: WireOptions): Wire =>
  options.isProxied ? openFetched(url) : openDirect(url, options)

type WireOptions = { isProxied?: boolean; sharesConnections?: boolean }

/**
 * HTTP/1.1 over sockets of our own, with or without TLS. `fetch` reads on another thread, sets
 * 64 KiB aside for each body and makes objects for each read, which is most of what a stream costs;
 * it also shares its connections between accounts. With `address` it connects to that, whatever
 * the name of the URL resolves to; the certificate is that of the name.
 */
export function openDirect(
  url: string,
  { address, sharesConnections = false }: { address?: string; sharesConnections?: boolean } = {},
): Wire {
  const { protocol, host, hostname, port, pathname, search } = new URL(url)
  const isSecure = protocol === 'https:'
  const standing = [
    `POST ${pathname}${search} HTTP/1.1`,
    `host: ${host}`,
    'accept: */*',
    'accept-encoding: identity',
  ]
  const start = `${standing.join('\r\n')}\r\n`
  const name = hostname.replace(/^\[|\]$/g, '')
  const server = {
    name,
    hostname: address ?? name,
    port: Number(port || (isSecure ? 443 : 80)),
    isSecure,
    isShared: sharesConnections,
  }
  const lines = makeLines(server)
  // Nearly all requests have the same headers; callers must not mutate the object.
  let written: { headers: object; text: string | undefined } = { headers: {}, text: '' }
  return {
    ask({ account, headers, body, signal, mark, limits }) {
      if (signal.aborted) return Promise.reject(new UpstreamFailure('aborted'))
      if (headers !== written.headers) written = { headers, text: linesOf(headers) }
      if (written.text === undefined) return Promise.reject(new UpstreamFailure('unreachable'))
      const length = Buffer.byteLength(body)
      const request = `${start}${written.text}content-length: ${length}\r\n\r\n${body}`
      const owner = sharesConnections ? anyAccount : account
      return new Exchange(lines, owner, signal, limits, mark).begin(request)
    },
  }
}

/** The owner of connections that all accounts share. */
const anyAccount = ''

/** The lines of headers; undefined where one does not fit into a line and could begin another. */
function linesOf(headers: Readonly<Record<string, string>>): string | undefined {
  let text = ''
  for (const name in headers) {
    const value = headers[name]?.trim() ?? ''
    if (/[^\t -~]/.test(value)) return undefined
    text += `${name}: ${value}\r\n`
  }
  return text
}

/** A wire by `fetch`, whose connections serve one request each: its pool knows no accounts. */
export function openFetched(url: string): Wire {
  return {
    async ask({ headers, body, signal, mark, limits }) {
      // `fetch` does not tell when it connected.
      if (mark && !signal.aborted) mark.isSent = true
      const answer = await request({ url, headers, body, signal, limits, keepalive: false })
      const fieldOf = (name: string) => answer.headers.get(name)
      return {
        ...answer,
        retryAfterMs: retryAfterIn(fieldOf, systemClock.now(), longestRestMs),
        async flow(take) {
          for (;;) {
            const bytes = await answer.read()
            if (!bytes || !(await take(bytes))) return
          }
        },
      }
    },
  }
}
