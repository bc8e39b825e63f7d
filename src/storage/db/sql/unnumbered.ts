/** Ended runs that wait for their places in the log. */
import { asc } from 'drizzle-orm'
import type { Db } from '../engine/db.ts'
import { type Query, rows, type Work } from './query-steps.ts'

/** The ids of up to `most` of them, those that ended first; of all without it. */
export function* unnumberedIds(
  { tables: { unnumberedBatches } }: Pick<Db, 'tables'>,
  q: Query,
  most = Number.MAX_SAFE_INTEGER,
): Work<string[]> {
  const { endedAt, id } = unnumberedBatches
  const listed = q.select().from(unnumberedBatches).orderBy(asc(endedAt), asc(id)).limit(most)
  return (yield* rows(listed)).flatMap((batch) => batch.runs).slice(0, most)
}
