/** Keeps the public figures in step with what is shared. */
import { and, asc, eq, gt, sql } from 'drizzle-orm'
import type { Db } from '../db/db.ts'
import { lockedRows, type Query, rows, update, type Work } from '../db/query-steps.ts'
import type { ExplorerModelRow, ShareRow, Tables } from '../db/schema.ts'
import { addFigure, type FiguredRun, figureChanges, noFirstTokens } from './figure.ts'

type Shown = Pick<ShareRow, 'visibility' | 'sections'> | undefined

/** Moves the public figures in the transaction that changes the visibility of a receipt. */
export function* moveFigures(
  q: Query,
  tables: Tables,
  { run, from, to }: { run: FiguredRun; from: Shown; to: Shown },
): Work<void> {
  for (const change of figureChanges(run, from, to)) yield* add(q, tables, change)
}

function* add(q: Query, { explorerModels }: Tables, change: ExplorerModelRow): Work<void> {
  const { grain, at, model } = change
  const none = { grain, at, model, runs: 0, cost: 0n, firstTokens: noFirstTokens() }
  // Of two concurrent first writers, one adds the row and the other waits for it.
  const target = [explorerModels.grain, explorerModels.at, explorerModels.model]
  yield* rows(
    q
      .insert(explorerModels)
      .values(none)
      .onConflictDoNothing({ target })
      .returning({ at: explorerModels.at }),
  )
  const named = and(
    eq(explorerModels.grain, grain),
    eq(explorerModels.at, at),
    eq(explorerModels.model, model),
  )
  const [row] = yield* lockedRows(q.select().from(explorerModels).where(named))
  if (!row) throw new Error(`the public figures of ${model} have no row`)
  yield* update(explorerModels, [addFigure(row, change)], ['runs', 'cost', 'firstTokens'])
}

const doneFact = 'figures.settled'
/** Shares read in one query. */
const readMax = 500

/**
 * Adds receipts that were public before figures existed, and the digests they are found by. Runs
 * once per database, before the first share can change: like a migration.
 */
export function ensureFigures(db: Db): Promise<void> {
  const { tables } = db
  const { runs, shares, facts } = tables
  const runId = sql`'run_' || substr(${shares.receiptId}, 6)`

  return db.write(function* (q) {
    // A node that starts at the same time waits here and finds it done.
    const done = q.insert(facts).values({ name: doneFact, value: 'yes' })
    if ((yield* rows(done.onConflictDoNothing().returning())).length === 0) return
    for (let last = ''; ; ) {
      const found = yield* rows(
        q
          .select({ share: shares, run: runs })
          .from(shares)
          .innerJoin(runs, sql`${runs.id} = ${runId}`)
          .where(and(eq(shares.visibility, 'public'), gt(shares.receiptId, last)))
          .orderBy(asc(shares.receiptId))
          .limit(readMax),
      )
      for (const { share, run } of found) {
        yield* moveFigures(q, tables, { run, from: undefined, to: share })
        yield* update(shares, [{ receiptId: share.receiptId, digest: run.digest }], ['digest'])
      }
      last = found.at(-1)?.share.receiptId ?? ''
      if (found.length < readMax) break
    }
  })
}
