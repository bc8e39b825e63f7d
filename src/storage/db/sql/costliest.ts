/** Sorts runs by cost, which no index does: among a bounded number of the newest. */
import { and, desc, gte, type SQL } from 'drizzle-orm'
import { sortedMax } from '../../../kernel/pagination.ts'
import type { Tables } from '../schema/schema.ts'
import { first, type Query, rows, type Work } from './query-steps.ts'

/** Returns the ids of the costliest that match among the {@link sortedMax} newest `within`. */
export function* costliestIds(
  q: Query,
  runs: Tables['runs'],
  within: SQL | undefined,
  matching: SQL | undefined,
  limit: number,
): Work<string[]> {
  const newest = q.select({ id: runs.id }).from(runs).where(within).orderBy(desc(runs.id))
  const stop = yield* first(newest.limit(1).offset(sortedMax - 1))
  const listed = and(within, stop && gte(runs.id, stop.id), matching)
  const sorted = q.select({ id: runs.id }).from(runs).where(listed)
  const order = [desc(runs.cost), desc(runs.id)]
  return (yield* rows(sorted.orderBy(...order).limit(limit))).map(({ id }) => id)
}
