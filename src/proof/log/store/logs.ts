/** Opens the logs of a database and guards the name of the current one. */
import { asc, desc } from 'drizzle-orm'
import type { Millis } from '../../../kernel/clock.ts'
import type { Db } from '../../../storage/db/engine/db.ts'
import { liveNodes } from '../../../storage/db/engine/lease.ts'
import {
  first,
  lockedRows,
  type Query,
  rows,
  update,
  type Work,
} from '../../../storage/db/sql/query-steps.ts'
import { type Logs, logsOf } from '../logs.ts'

/**
 * Returns the logs of this database, and opens the first under `origin`. Until a receipt is issued
 * the log takes the configured name; from its first leaf on it keeps it. `now` is the time of
 * leases.
 * @throws Error if nothing was issued and another server runs on the log under another name
 */
export function* ensureLogs(db: Db, q: Query, origin: string, now: Millis): Work<Logs> {
  const { logs, signers } = db.tables
  const opened = { number: 1, origin, start: 0, openedAt: now, reason: '' }
  yield* rows(q.insert(logs).values(opened).onConflictDoNothing().returning())
  // Locked, so that concurrent starts see each other's decision.
  const found = yield* lockedRows(q.select().from(logs).orderBy(asc(logs.number)))
  const [only] = found
  if (!only || only.origin === origin || found.length > 1) return logsOf(found)
  if (yield* hasIssued(db, q)) return logsOf(found)
  const [other] = db.exclusive ? [] : yield* liveNodes(db, q, now)
  if (other) throw new Error(twoNames(only.origin, origin, `the server ${other} runs on it`))
  yield* rows(q.delete(signers).returning())
  yield* update(logs, [{ ...only, origin }], ['origin'])
  return logsOf([{ ...only, origin }])
}

/** Whether the name of the first log is final. */
function* hasIssued(db: Db, q: Query): Work<boolean> {
  const { runs } = db.tables
  if (yield* hasLeaf(db, q)) return true
  return (yield* first(q.select({ id: runs.id }).from(runs).limit(1))) !== undefined
}

function* hasLeaf(db: Db, q: Query): Work<boolean> {
  const { idx } = db.tables.logLeaves
  return (yield* first(q.select({ idx }).from(db.tables.logLeaves).limit(1))) !== undefined
}

const twoNames = (theirs: string, ours: string, why: string): string =>
  `the log of this database is named ${theirs}, and ${why}, but base_url here is ${ours}: give ` +
  'all servers the same base_url. To rename the log, which is possible until its first receipt, ' +
  'stop the other servers first; a killed one counts as running for ten seconds'

/**
 * Checks, until a leaf makes the name final, that the log has the name this process issues under:
 * while a server was suspended past its lease, another one may have renamed the log and issued
 * receipts. The name stays locked until the transaction ends.
 */
export function nameGuard(db: Db, origin: string): (q: Query) => Work<void> {
  const { logs } = db.tables
  let isFinal = false
  return function* (q) {
    if (isFinal) return
    const [current] = yield* lockedRows(q.select().from(logs).orderBy(desc(logs.number)).limit(1))
    if (current?.origin !== origin) {
      throw new Error(twoNames(`${current?.origin}`, origin, 'another server gave it that name'))
    }
    isFinal = yield* hasLeaf(db, q)
  }
}
