/** Reads why a server was not reached from the error of a socket. */

/** Its name is unknown, it refuses connections, or its certificate or TLS is wrong. */
export type ReachTrouble = 'dns' | 'refused' | 'tls'

const tlsCodes =
  /^(EPROTO$|CERT_|ERR_(TLS|SSL)|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MIS|INVALID_CA)/

/** Undefined for everything else, such as a network that is down. */
export function reachTroubleOf(error: unknown): ReachTrouble | undefined {
  const code = String((error as { code?: unknown } | null)?.code ?? '')
  if (code === 'ECONNREFUSED' || code === 'ConnectionRefused') return 'refused'
  if (code === 'ENOTFOUND' || /^(EAI_|DNS_)/.test(code)) return 'dns'
  return tlsCodes.test(code) ? 'tls' : undefined
}
