/** The HTTP client for model servers: the only file of this folder to import from outside. */
import type { StopSignal } from '../../../kernel/stop.ts'
import type { WireAnswer } from '../http.ts'
import { type HttpLimits, request } from '../http.ts'
import { type SentMark, UpstreamFailure } from '../upstream.ts'
import { Exchange } from './exchange.ts'
import { makeLines } from './lines.ts'

/** One request to a {@link Wire}. */
export type WireRequest = {
  /** Whose request it is. Connections are never shared between accounts. */
  account: string
  headers: Readonly<Record<string, string>>
  body: string
  signal: StopSignal
  mark?: SentMark | undefined
  limits: HttpLimits
}

/** A URL that is posted to. */
export type Wire = {
  /** @throws UpstreamFailure and nothing else, as `request` does */
  ask(request: WireRequest): Promise<WireAnswer>
}

/** Proxies that the environment names are known to `fetch` alone. */
export const openWire = (url: string, isProxied: boolean): Wire =>
  isProxied ? openFetched(url) : openDirect(url)

/**
 * HTTP/1.1 over sockets of our own, with or without TLS. `fetch` reads on another thread, sets
 * 64 KiB aside for each body and makes objects for each read, which is most of what a stream costs;
 * it also shares its connections between accounts. With `address` it connects to that, whatever
 * the name of the URL resolves to; the certificate is that of the name.
 */
export function openDirect(url: string, address?: string): Wire {
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
  }
  const lines = makeLines<Exchange>(server, {
    opening: (exchange, line) => exchange.connect(line),
    opened: (exchange, line) => exchange.send(line),
    bytes: (exchange, bytes) => exchange.take(bytes),
    lost: (exchange, isClean) => exchange.lose(isClean),
  })
  // Nearly all requests have the same headers; callers must not mutate the object.
  let written = { headers: {}, text: '' }
  return {
    async ask({ account, headers, body, signal, mark, limits }) {
      if (signal.aborted) throw new UpstreamFailure('aborted')
      if (headers !== written.headers) written = { headers, text: linesOf(headers) }
      const length = Buffer.byteLength(body)
      const request = `${start}${written.text}content-length: ${length}\r\n\r\n${body}`
      return new Exchange(lines, account, signal, limits, mark).begin(request)
    },
  }
}

/** The same by `fetch`, whose connections serve one request each: its pool knows no accounts. */
export function openFetched(url: string): Wire {
  return {
    async ask({ headers, body, signal, mark, limits }) {
      // `fetch` does not tell when it connected.
      if (mark && !signal.aborted) mark.isSent = true
      const answer = await request({ url, headers, body, signal, limits, keepalive: false })
      return {
        ...answer,
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

function linesOf(headers: Readonly<Record<string, string>>): string {
  let text = ''
  for (const name in headers) {
    const value = headers[name]?.trim() ?? ''
    // What does not fit into one line could begin another header.
    if (/[^\t -~]/.test(value)) throw new UpstreamFailure('unreachable')
    text += `${name}: ${value}\r\n`
  }
  return text
}
