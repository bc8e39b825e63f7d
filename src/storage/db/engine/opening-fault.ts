/** Explains why a PostgreSQL server could not be used at a start, and what to do. */

/** Names host and port, never the user or the password. Returns any other error unchanged. */
export function openingFault(error: unknown, url: string): unknown {
  const code = codesOf(error).find((one) => Object.hasOwn(faults, one))
  const fault = code === undefined ? undefined : faults[code]
  if (fault === undefined) return error
  const message = `PostgreSQL at ${serverOf(url)} ${fault(databaseOf(url))}`
  return awayCodes.has(`${code}`) ? new DatabaseAway(message) : new Error(message)
}

/** A server that is not there yet, or not there now: waiting helps. */
export class DatabaseAway extends Error {}

const awayCodes = new Set([
  'ERR_POSTGRES_CONNECTION_REFUSED',
  'ERR_POSTGRES_CONNECTION_TIMEOUT',
  'ERR_POSTGRES_CONNECTION_CLOSED',
  'SILENT',
  '53300',
  '57P03',
])

/**
 * The codes of an error and its causes, the innermost first: SQLSTATE in `errno`, the client's own
 * in `code`.
 */
function codesOf(error: unknown): string[] {
  const codes: string[] = []
  for (let at = error; at instanceof Error; at = at.cause) {
    const { errno, code } = at as { errno?: unknown; code?: unknown }
    codes.unshift(...[errno, code].filter((one) => typeof one === 'string'))
    // PgBouncer uses the same code for every refusal.
    const isPassword = /^password authentication failed/.test(at.message)
    if (errno === '08P01' && isPassword) codes.unshift('28P01')
    // Another client's statement of the same name has other parameters or columns.
    if (/^bind message supplies|^cached plan must not/.test(at.message)) codes.unshift('26000')
  }
  return codes
}

/** A prepared statement already exists, or does not exist. */
const poolerCodes = ['42P05', '26000']

/** Whether prepared statements of two clients collided: a pooler in transaction mode does that. */
export const isPoolerFault = (error: unknown): boolean =>
  codesOf(error).some((code) => poolerCodes.includes(code))

/** Follows the name of the server in a message. */
export const poolerAdvice =
  'is behind a pooler that shares connections between transactions, where prepared statements ' +
  'fail; append ?prepare=false to database_url'

/** Host and port of a URL, as `host:port`. */
function serverOf(url: string): string {
  const { hostname = '', port = '' } = URL.parse(url) ?? {}
  return `${hostname || 'localhost'}:${port || '5432'}`
}

const databaseOf = (url: string): string =>
  decodeURIComponent(URL.parse(url)?.pathname.slice(1) ?? '')

const correct = 'correct database_url'

const faults: Record<string, (database: string) => string> = {
  ERR_POSTGRES_CONNECTION_REFUSED: () => `cannot be reached; start it, or ${correct}`,
  ERR_POSTGRES_CONNECTION_TIMEOUT: () => `does not answer; check the network, or ${correct}`,
  ERR_POSTGRES_CONNECTION_CLOSED: () => 'closed the connection; see its log',
  SILENT: () => `does not answer; check the network, or ${correct}`,
  ERR_POSTGRES_TLS_NOT_AVAILABLE: () =>
    'does not offer TLS; turn ssl on in the server, or remove sslmode from database_url',
  ERR_POSTGRES_TLS_UPGRADE_FAILED: () => 'failed the TLS handshake; check its certificate',
  DEPTH_ZERO_SELF_SIGNED_CERT: () => untrusted,
  SELF_SIGNED_CERT_IN_CHAIN: () => untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: () => untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: () => untrusted,
  CERT_HAS_EXPIRED: () => 'has a certificate that has expired; renew it',
  ERR_TLS_CERT_ALTNAME_INVALID: () =>
    `has a certificate for another host name; ${correct}, or renew the certificate`,
  '3D000': (database) => `has no database "${database}"; create it (createdb), or ${correct}`,
  '08P01': () => 'refused the connection; see its log, or that of the pooler before it',
  '28P01': () => `refused the user or the password; ${correct}, or set PGPASSWORD`,
  '28000': () =>
    `does not let this user in: no such role, or no line in pg_hba.conf; add it, or ${correct}`,
  '26000': () => poolerAdvice,
  '42P05': () => poolerAdvice,
  '42501': () => 'does not let this user create tables; make its role the owner of the database',
  '53300': () => 'has no connection left; raise max_connections, or stop other programs',
  '57P03': () => 'is starting or stopping; try again when it is up',
}

const untrusted =
  'has a certificate that this machine does not trust; name its authority in NODE_EXTRA_CA_CERTS'
