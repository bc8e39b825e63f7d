/** Reads how many of the newest runs were counted although their whole answer came. */
import { desc, eq } from 'drizzle-orm'
import type { Db } from '../../../storage/db/engine/db.ts'
import { rows } from '../../../storage/db/sql/query-steps.ts'

/** Complete runs of a model, and those of them whose usage was not believed or not reported. */
export type CountedRuns = { model: string; counted: number; all: number }

export async function countedRuns(db: Db, most: number): Promise<CountedRuns[]> {
  const { runs } = db.tables
  const found = await db.read((q) =>
    rows(
      q
        .select({ model: runs.model, source: runs.usageSource })
        .from(runs)
        .where(eq(runs.outcome, 'complete'))
        .orderBy(desc(runs.id))
        .limit(most),
    ),
  )
  const sums = new Map<string, CountedRuns>()
  for (const { model, source } of found) {
    const sum = sums.get(model) ?? { model, counted: 0, all: 0 }
    sums.set(model, sum)
    sum.all++
    if (source === 'counted') sum.counted++
  }
  return [...sums.values()].filter(({ counted }) => counted > 0)
}
