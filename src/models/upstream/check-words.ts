/** Words for how an upstream answered a check. */
import type { UpstreamCheck } from './check.ts'

/** The meaning of each status and, after a colon, its fix. */
export const upstreamWords: Record<UpstreamCheck['status'], string> = {
  ok: 'responds',
  unlisted: 'responds, but does not list its models',
  denied: 'rejects the key: check its api_key_env or api_key_file',
  unpaid: 'says that our account there has no credit: pay its provider',
  misplaced: 'has no API at its base_url: correct its base_url',
  dns: 'has a host name that does not resolve: check the host in its base_url, and the DNS here',
  refused: 'refuses connections: check the port in its base_url, and that it is running',
  tls: 'fails the TLS handshake: check its certificate, and http or https in its base_url',
  unreachable: 'is unreachable: check its base_url, and that it is running',
  timeout: 'does not respond in time',
  error: 'returns an error: check its base_url, which usually ends in /v1',
}
