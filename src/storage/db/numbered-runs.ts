/** Ended runs in the order of the log, as a subquery whose cost does not grow with the log. */
import { type SQL, sql } from 'drizzle-orm'
import type { Db } from './db.ts'
import { firstOfBoth } from './first-of-both.ts'

/** Places of the log: `from` ≤ place < `before`, of these the first `limit` in one direction. */
export type LogPage = { newestFirst?: boolean } & {
  [bound in 'from' | 'before' | 'limit']?: number | undefined
}

/** What `select` reads of {@link numberedRuns}; `runId` joins it to `runs`. */
export const numbered = {
  place: sql.raw('"numbered"."place"').mapWith(Number) as SQL<number>,
  runId: sql.raw('"numbered"."run_id"') as SQL<string>,
}

/**
 * The runs on a page of the log, to select from. Versions before stored the place in `runs`, this
 * one names the run in its leaf, and all places of theirs come first: the leaves that name no run
 * are not walked.
 */
export function numberedRuns({ engine }: Pick<Db, 'engine'>, page: LogPage): SQL {
  const { from = 0, before, limit, newestFirst } = page
  const greater = sql.raw(engine === 'sqlite' ? 'max' : 'greatest')
  const beyond = sql`(select coalesce(max(log_index) + 1, 0) from runs where log_index is not null)`
  const upTo = (place: SQL): SQL => (before === undefined ? sql`` : sql` and ${place} < ${before}`)
  const held = sql`select log_index as place, id as run_id from runs
    where log_index is not null and log_index >= ${from}${upTo(sql`log_index`)}`
  const named = sql`select idx as place, run_id from log_leaves
    where run_id is not null and idx >= ${greater}(${from}, ${beyond})${upTo(sql`idx`)}`
  if (limit === undefined) return sql`(${held} union all ${named}) as numbered`
  const order = newestFirst ? sql`place desc` : sql`place`
  return sql`${firstOfBoth([held, named], { order, limit })} as numbered`
}
