/** Adds what ended runs brought in and cost to the sums of their day, in log order. */
import { sql } from 'drizzle-orm'
import type { CountedReceipt, Counter } from '../../../storage/counts/counter.ts'
import { cursorOf } from '../../../storage/counts/counter.ts'
import type { Db } from '../../../storage/db/engine/db.ts'
import type { MarginDayRow } from '../../../storage/db/schema/schema.ts'
import { prepared, type Query, type Work } from '../../../storage/db/sql/query-steps.ts'
import { dayOf } from '../../usage/usage.ts'

const name = 'margins'

/** The first place of the log that is not counted. */
export const cursorFact = cursorOf({ name })

/** Counts receipts of runs whose cost to the operator is known. */
export function marginCounter(db: Db): Counter {
  const { marginDays } = db.tables

  const adding = (q: Query, row: MarginDayRow) => {
    const { day, model, accountId } = marginDays
    const target = [day, model, accountId]
    const set = {
      runs: sql`${marginDays.runs} + excluded.runs`,
      revenue: sql`${marginDays.revenue} + excluded.revenue`,
      cost: sql`${marginDays.cost} + excluded.cost`,
    }
    return q.insert(marginDays).values([row]).onConflictDoUpdate({ target, set }).returning({ day })
  }

  return {
    name,
    *add(q, receipts): Work<void> {
      for (const row of toMarginDays(receipts)) {
        yield* prepared('margins.add', row, (values) => adding(q, values))
      }
    },
  }
}

/** The rows that some receipts add up to, in the order of their primary key. */
export function toMarginDays(
  receipts: readonly Pick<
    CountedReceipt,
    'accountId' | 'model' | 'finishedAt' | 'cost' | 'wholesale'
  >[],
): MarginDayRow[] {
  const days = new Map<string, MarginDayRow>()
  for (const { accountId, model, finishedAt, cost: revenue, wholesale: cost } of receipts) {
    if (cost === null) continue
    const day = dayOf(finishedAt)
    // Only the name of a model can have a space in it.
    const key = `${day} ${accountId} ${model}`
    const row = days.get(key)
    if (!row) days.set(key, { day, model, accountId, runs: 1, revenue, cost })
    else {
      row.runs += 1
      row.revenue += revenue
      row.cost += cost
    }
  }
  return [...days].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)
}
