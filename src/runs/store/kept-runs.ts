/** Reads runs with the texts that their accounts keep, for calibration. */
import { and, asc, eq, gt } from 'drizzle-orm'
import type { Millis } from '../../kernel/clock.ts'
import type { Db } from '../../storage/db/engine/db.ts'
import { rows } from '../../storage/db/sql/query-steps.ts'
import type { KeptRun } from '../calibrate.ts'

/** Runs read at once: their texts can be megabytes. */
const pageRows = 50

/** All of them by their ids, a page at a time. */
export async function* keptRuns(db: Db, now: Millis): AsyncGenerator<KeptRun> {
  const { runs, runTexts } = db.tables
  let after = ''
  for (;;) {
    const page = await db.read((q) =>
      rows(
        q
          .select({
            id: runs.id,
            model: runs.model,
            lines: runs.lines,
            input: runTexts.input,
            output: runTexts.output,
          })
          .from(runTexts)
          .innerJoin(runs, eq(runs.id, runTexts.runId))
          .where(
            and(
              gt(runTexts.runId, after),
              gt(runTexts.until, now),
              eq(runs.usageSource, 'reported'),
              eq(runs.outcome, 'complete'),
            ),
          )
          .orderBy(asc(runTexts.runId))
          .limit(pageRows),
      ),
    )
    yield* page
    const last = page.at(-1)
    if (!last || page.length < pageRows) return
    after = last.id
  }
}
