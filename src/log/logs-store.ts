import { asc, isNotNull } from 'drizzle-orm'
import { type Db, first, type Query, rows, update, type Work } from '../db/db.ts'
import { liveNodes } from '../db/lease.ts'
import type { Millis } from '../kernel/clock.ts'
import { type Logs, logsOf } from './logs.ts'

/**
 * The logs of this database. The first is opened under `origin`, and as long as nothing was issued
 * it takes the name that the configuration has by then; from its first leaf on it keeps it.
 */
export function* settleLogs(db: Db, q: Query, origin: string, now: Millis): Work<Logs> {
  const { logLeaves, logs, runs, signers } = db.tables
  const opened = { number: 1, origin, start: 0, openedAt: now, reason: '' }
  yield* rows(q.insert(logs).values(opened).onConflictDoNothing().returning())
  const found = yield* rows(q.select().from(logs).orderBy(asc(logs.number)))
  const [only] = found
  if (!only || only.origin === origin || found.length > 1) return logsOf(found)
  // Another node that runs would go on under the name that it found.
  if (!db.exclusive && (yield* liveNodes(db, q, now)).length > 0) return logsOf(found)
  const { idx } = logLeaves
  const leaf = yield* first(q.select({ idx }).from(logLeaves).limit(1))
  const ended = q.select({ id: runs.id }).from(runs).where(isNotNull(runs.finishedAt))
  if (leaf || (yield* first(ended.limit(1)))) return logsOf(found)
  yield* rows(q.delete(signers).returning())
  yield* update(logs, [{ ...only, origin }], ['origin'])
  return logsOf([{ ...only, origin }])
}
