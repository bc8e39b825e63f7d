/**
 * One log of this database. The leaves of all of them lie one behind the other, so that an index
 * in a log is a place less the log's start.
 */
export type LogSpan = {
  /** The issuer of its receipts. */
  origin: string
  /** The place of its first leaf. */
  start: number
  /** The place behind its last leaf; null for the current one, which grows. */
  end: number | null
  /** Milliseconds. */
  openedAt: number
  /** Why the one before was abandoned; empty for the first. */
  reason: string
}

/** All logs of a database by age; receipts go into the last. They change only at a start. */
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

/** The log that a receipt is in. @throws when there is none, which no receipt of ours has. */
export function logOf(logs: Logs, issuer: string): LogSpan {
  const found = logs.of(issuer)
  if (!found) throw new Error(`this database has no log of ${issuer}`)
  return found
}

/** The index of a receipt in the log of its issuer; null while it has no place. */
export function indexIn(logs: Logs, run: { issuer: string; logPlace: number | null }) {
  return run.logPlace === null ? null : run.logPlace - logOf(logs, run.issuer).start
}

/** The origin of the log after these: that of the first with the number of the new one. */
export const nextOrigin = ({ all }: Logs): string => `${all[0]?.origin}#${all.length + 1}`
