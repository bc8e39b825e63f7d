/** Counts all receipts, private ones too, per hour and day. */
import { sql } from 'drizzle-orm'
import type { CountedReceipt, Counter } from '../../../storage/counts/counter.ts'
import type { Db } from '../../../storage/db/db.ts'
import { prepared, type Query, rows } from '../../../storage/db/query-steps.ts'
import type { ExplorerCountRow } from '../../../storage/db/schema.ts'
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
  const counts = new Map<string, ExplorerCountRow>()
  for (const { finishedAt, status } of receipts) {
    const succeeded = status === 'succeeded' ? 1 : 0
    for (const grain of ['day', 'hour'] as const) {
      const at = grainStart(grain, finishedAt)
      const row = counts.get(`${grain} ${at}`)
      if (row) {
        row.receipts += 1
        row.succeeded += succeeded
      } else counts.set(`${grain} ${at}`, { grain, at, receipts: 1, succeeded })
    }
  }
  return [...counts.values()].sort((a, b) =>
    a.grain === b.grain ? a.at - b.at : a.grain < b.grain ? -1 : 1,
  )
}
