/** The address of a model server and what every request to it carries, from its configuration. */
import type { Clock } from '../../kernel/clock.ts'

import type { Dialect } from '../protocols/dialect.ts'
import { isSigning, type SigningAuth } from './credentials.ts'
import type { HttpLimits } from './http.ts'
import type { KeyPool } from './key-pool.ts'
import type { EvidenceConfig } from './signed-exchange.ts'
import type { UpstreamKind, WireProtocol } from './wire-protocol.ts'

export type ModelServer = {
  id: string
  /** The protocol that it speaks. */
  kind?: UpstreamKind
  /** The base URL, with or without a slash at its end; a query stays. */
  baseUrl: string
  apiKey?: string
  /** Several keys in the place of `apiKey`, which share its requests. */
  pool?: KeyPool | undefined
  /** How the key is sent; what is usual for the protocol when absent. */
  auth?: 'bearer' | 'x-api-key' | 'none' | SigningAuth
  /** Region and service of AWS, where requests are signed for it. */
  region?: string | undefined
  service?: string | undefined
  /** Sent with every request, beside those of the protocol. */
  headers?: Readonly<Record<string, string>>
  /** Query parameters of every request, beside those of `baseUrl`. */
  query?: Readonly<Record<string, string>> | undefined
  limits?: Partial<HttpLimits>
  /** Whether clients may read why it refuses a request; true when absent. */
  relaysMessages?: boolean
  /** Whether the environment names a proxy. */
  isProxied?: boolean
  /** Whether all accounts take turns on its connections; each has its own when absent. */
  sharesConnections?: boolean
  /** Whether it is told what trace a request belongs to. */
  isTraced?: boolean
  /** How it departs from its protocol, as the operator knows. */
  dialect?: Dialect | undefined
  clock?: Pick<Clock, 'now'>
  /** Set where it signs its answers. */
  attest?: EvidenceConfig | undefined
}

/** The headers that every request to a server carries. */
export function headersFor(
  wireProtocol: WireProtocol,
  options: Pick<ModelServer, 'apiKey' | 'auth' | 'headers'>,
): Record<string, string> {
  const { apiKey, auth = wireProtocol.auth } = options
  const credential: Record<string, string> =
    apiKey === undefined || auth === 'none' || isSigning(auth)
      ? {}
      : auth === 'bearer'
        ? { authorization: `Bearer ${apiKey}` }
        : { 'x-api-key': apiKey }
  return {
    'content-type': 'application/json',
    'user-agent': 'counterfoil',
    ...wireProtocol.headers,
    ...options.headers,
    ...credential,
  }
}

/**
 * The URL of a path.
 * @throws Error when `baseUrl` is not a plain http(s) URL: a fault of the configuration
 */
export function endpoint({ id, baseUrl, query }: ModelServer, path: string): string {
  const url = URL.parse(baseUrl)
  // The message never repeats the URL, which may hold a credential.
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new Error(`the base_url of upstream "${id}" is not an http(s) URL`)
  }
  if (url.username || url.password) {
    throw new Error(`the base_url of upstream "${id}" holds credentials: use its api key instead`)
  }
  url.pathname = `${url.pathname.replace(/(?<!\/)\/+$/, '')}/${path}`
  url.hash = ''
  for (const [name, value] of Object.entries(query ?? {})) url.searchParams.set(name, value)
  return url.href
}
