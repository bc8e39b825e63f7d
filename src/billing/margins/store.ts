/** Reads the sums of margins, and the runs that are not in them yet. */
import { and, eq, gte, inArray, lt, max, sql } from 'drizzle-orm'
import type { Db } from '../../storage/db/engine/db.ts'
import { numbered, numberedRuns } from '../../storage/db/sql/numbered-runs.ts'
import { first, type Query, rows, type Work } from '../../storage/db/sql/query-steps.ts'
import { unnumberedIds } from '../../storage/db/sql/unnumbered.ts'
import type { Period } from '../usage/log-range.ts'
import type { MarginGroup, MarginPicture, MarginRow } from './margin.ts'
import { cursorFact } from './store/margin-counter.ts'

export type MarginStore = {
  picture(days: Period, by: MarginGroup): Promise<MarginPicture>
}

/** Leaves beyond the count that are read to show what just ran, and runs without a place. */
const freshMax = 5000
const unnumberedMax = 1000

export function marginStore(db: Db): MarginStore {
  const { facts, logLeaves, marginDays, runCosts, runs } = db.tables
  const columns = {
    finishedAt: runs.finishedAt,
    model: runs.model,
    accountId: runs.accountId,
    revenue: runs.cost,
    cost: runCosts.cost,
  }

  function* readSums(q: Query, { from, to }: Period, by: MarginGroup): Work<MarginRow[]> {
    const { day, model, accountId } = marginDays
    const column = { model, account: accountId, day }[by]
    const total = (of: unknown) => sql<string>`cast(coalesce(sum(${of}), 0) as text)`
    const grouped = q
      .select({
        name: sql<string>`cast(${column} as text)`,
        runs: total(marginDays.runs),
        revenue: total(marginDays.revenue),
        cost: total(marginDays.cost),
      })
      .from(marginDays)
      .where(and(gte(day, from), lt(day, to)))
      .groupBy(column)
    return (yield* rows(grouped)).map((row) => ({
      name: row.name,
      runs: Number(row.runs),
      revenue: BigInt(row.revenue),
      cost: BigInt(row.cost),
    }))
  }

  function* read(q: Query, days: Period, by: MarginGroup): Work<MarginPicture> {
    const cursor = yield* first(q.select().from(facts).where(eq(facts.name, cursorFact)))
    const from = Number(cursor?.value ?? 0)
    const last = yield* first(q.select({ place: max(logLeaves.idx) }).from(logLeaves))
    const size = last?.place === null || last === undefined ? 0 : Number(last.place) + 1
    const before = Math.min(size, from + freshMax)
    const costed = eq(runCosts.runId, runs.id)
    const since = q.select(columns).from(numberedRuns({ from, before }))
    const found = yield* rows(
      since.innerJoin(runs, eq(runs.id, numbered.runId)).innerJoin(runCosts, costed),
    )
    const waiting = inArray(runs.id, yield* unnumberedIds(db, q, unnumberedMax))
    const unnumbered = yield* rows(
      q.select(columns).from(runs).innerJoin(runCosts, costed).where(waiting),
    )
    const sums = days.from < days.to ? yield* readSums(q, days, by) : []
    return { sums, fresh: [...found, ...unnumbered], uncounted: size - before }
  }

  return {
    // With one writer, reads in one turn are of one moment.
    picture: (days, by) =>
      db.exclusive ? db.read((q) => read(q, days, by)) : db.snapshot((q) => read(q, days, by)),
  }
}
