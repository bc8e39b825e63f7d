/** The logs of a database: each has an origin, which issues its receipts, and a range of leaves. */

/**
 * One log of this database. The leaves of all logs are stored in one sequence: an index in a log
 * is the place in the sequence minus the log's start.
 */
export type LogSpan = {
  /** The issuer of its receipts. */
  origin: string
  /** The place of its first leaf. */
  start: number
  /** The place after its last leaf; null for the current log, which grows. */
  end: number | null
  /** Milliseconds. */
  openedAt: number
  /** Why the previous log was abandoned; empty for the first. */
  reason: string
}

/** All logs, oldest first; receipts go into the last. They change only at a start. */
export type Logs = {
  all: readonly LogSpan[]
  current: LogSpan
  of(origin: string): LogSpan | undefined
}

export function logsOf(rows: readonly Omit<LogSpan, 'end'>[]): Logs {
  const all = rows.map(({ origin, start, openedAt, reason }, i) => {
    return { origin, start, end: rows[i + 1]?.start ?? null, openedAt, reason }
  })
  const current = all.at(-1)
  if (!current) throw new Error('this database has no log')
  return { all, current, of: (origin) => all.find((log) => log.origin === origin) }
}

/** The log of a receipt's issuer. @throws Error for an issuer that is not ours. */
export function logOf(logs: Logs, issuer: string): LogSpan {
  const found = logs.of(issuer)
  if (!found) throw new Error(`this database has no log of ${issuer}`)
  return found
}

/** The index of a receipt in the log of its issuer; null before it is numbered. */
export function indexIn(logs: Logs, run: { issuer: string; logPlace: number | null }) {
  return run.logPlace === null ? null : run.logPlace - logOf(logs, run.issuer).start
}

/** The origin of the next log: the first origin and the number of the new log. */
export const nextOrigin = ({ all }: Logs): string => `${all[0]?.origin}#${all.length + 1}`

/**
 * The path of a log: `/log`, `/log/2` for the second of a database, `/log/s3` for that of a shard.
 * A path always stays that of one log, because caches keep its tiles for ever.
 */
export const prefixOf = (origin: string): string =>
  ['/log', ...origin.split('#').slice(1)].join('/')

/** The log that a path is of, and the rest of the path behind its prefix. */
export function findPrefixed(
  { all }: Pick<Logs, 'all'>,
  path: string,
): { log: LogSpan; rest: string } | undefined {
  const [, prefix, rest = ''] = /^(\/log(?:\/\w+)*?)\/((?:checkpoint|tile\/).*)$/.exec(path) ?? []
  const log = all.find(({ origin }) => prefixOf(origin) === prefix)
  return log && { log, rest }
}
