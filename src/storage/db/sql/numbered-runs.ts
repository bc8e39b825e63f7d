/** Ended runs in the order of the log, as a subquery whose cost does not grow with the log. */
import { type SQL, sql } from 'drizzle-orm'

/** Places of the log: `from` ≤ place < `before`, of these the first `limit` in one direction. */
export type LogPage = { newestFirst?: boolean } & {
  [bound in 'from' | 'before' | 'limit']?: number | undefined
}

/** The columns of {@link numberedRuns}, for `select`; `runId` joins it to `runs`. */
export const numbered = {
  place: sql.raw('"numbered"."place"').mapWith(Number) as SQL<number>,
  runId: sql.raw('"numbered"."run_id"') as SQL<string>,
}

/** The runs on a page of the log, to select from, by the leaves that name them. */
export function numberedRuns({ from = 0, before, limit, newestFirst }: LogPage): SQL {
  const upTo = before === undefined ? sql`` : sql` and idx < ${before}`
  const order = newestFirst ? sql`idx desc` : sql`idx`
  const first = limit === undefined ? sql`` : sql` order by ${order} limit ${limit}`
  return sql`(select idx as place, run_id from log_leaves
    where run_id is not null and idx >= ${from}${upTo}${first}) as numbered`
}
