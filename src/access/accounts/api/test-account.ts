/** Signing in as the test account of `serve --dev`, whose private key is public. */
import type { PeerSource } from '../../../web/http/client-address.ts'
import { isLoopback } from '../../../web/http/host.ts'

export const testAccountPath = '/signin/test-account'

/** Headers that proxies add. Behind one, the connection has the address of the proxy. */
const forwarding = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip']

/**
 * The test account, for clients on this machine: the connection and the Host are loopback, and no
 * proxy stands between. Undefined for all others, and without `--dev`.
 */
export function testAccountFor(
  { devAccount, baseUrl }: { devAccount?: string | undefined; baseUrl: string },
  { headers }: Request,
  peer: string | undefined,
): string | undefined {
  if (devAccount === undefined || peer === undefined || !isLoopback(peer)) return undefined
  if (forwarding.some((name) => headers.has(name))) return undefined
  const host = URL.parse(`http://${headers.get('host') ?? ''}`)?.hostname
  const names = [host, URL.parse(baseUrl)?.hostname]
  const isHere = names.every((name) => name && isLoopback(name.replace(/^\[|\]$/g, '')))
  return isHere ? devAccount : undefined
}

/** The address at the other end of the connection, also where that is a trusted proxy. */
export const peerOf = (server: PeerSource | null, request: Request): string | undefined =>
  server?.requestIP(request)?.address.replace(/^::ffff:/i, '')
