/** Counts all receipts, private ones too, per hour and day. */
import { sql } from 'drizzle-orm'
import type { Millis } from '../../../kernel/clock.ts'
import type { CountedReceipt, Counter } from '../../../storage/counts/counter.ts'
import type { Db } from '../../../storage/db/engine/db.ts'
import type { ExplorerCountRow } from '../../../storage/db/schema/schema.ts'
import { prepared, type Query, rows } from '../../../storage/db/sql/query-steps.ts'
import { grainStart } from '../../../storage/figures/grain.ts'

export function explorerCounter(db: Db): Counter {
  const { explorerCounts } = db.tables

  const adding = (q: Query, counts: ExplorerCountRow[]) => {
    const target = [explorerCounts.grain, explorerCounts.at]
    const set = {
      receipts: sql`${explorerCounts.receipts} + excluded.receipts`,
      succeeded: sql`${explorerCounts.succeeded} + excluded.succeeded`,
    }
    const added = q.insert(explorerCounts).values(counts).onConflictDoUpdate({ target, set })
    return added.returning({ at: explorerCounts.at })
  }

  return {
    name: 'explorer',
    /** One round trip to a server; one compiled statement per row in process. */
    *add(q, receipts) {
      const counts = toCounts(receipts)
      if (!db.exclusive) yield* rows(adding(q, counts))
      else for (const one of counts) yield* prepared('explorer.add', one, (v) => adding(q, [v]))
    },
  }
}

/** The sums of some receipts, ordered by primary key. */
export function toCounts(
  receipts: readonly Pick<CountedReceipt, 'finishedAt' | 'status'>[],
): ExplorerCountRow[] {
  const hours = new Map<Millis, ExplorerCountRow>()
  for (const { finishedAt, status } of receipts) {
    add(hours, 'hour', finishedAt, { receipts: 1, succeeded: status === 'succeeded' ? 1 : 0 })
  }
  const days = new Map<Millis, ExplorerCountRow>()
  for (const hour of hours.values()) add(days, 'day', hour.at, hour)
  const byTime = (a: ExplorerCountRow, b: ExplorerCountRow) => a.at - b.at
  return [...[...days.values()].sort(byTime), ...[...hours.values()].sort(byTime)]
}

type RunCounts = Pick<ExplorerCountRow, 'receipts' | 'succeeded'>

function add(
  counts: Map<Millis, ExplorerCountRow>,
  grain: 'day' | 'hour',
  when: Millis,
  { receipts, succeeded }: RunCounts,
): void {
  const at = grainStart(grain, when)
  const row = counts.get(at)
  if (row) {
    row.receipts += receipts
    row.succeeded += succeeded
  } else counts.set(at, { grain, at, receipts, succeeded })
}
