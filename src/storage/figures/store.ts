/** Keeps the public figures in step with what is shared. */
import { and, eq } from 'drizzle-orm'
import type { ExplorerModelRow, ShareRow, Tables } from '../db/schema/schema.ts'
import { lockedRows, type Query, rows, update, type Work } from '../db/sql/query-steps.ts'
import { addFigure, type FiguredRun, figureChanges, noFirstTokens } from './figure.ts'

type ShareScope = Pick<ShareRow, 'visibility' | 'sections'> | undefined

/** Moves the public figures in the transaction that changes the visibility of a receipt. */
export function* moveFigures(
  q: Query,
  tables: Tables,
  { run, from, to }: { run: FiguredRun; from: ShareScope; to: ShareScope },
): Work<void> {
  for (const change of figureChanges(run, from, to)) yield* add(q, tables, change)
}

function* add(q: Query, { explorerModels }: Tables, change: ExplorerModelRow): Work<void> {
  const { grain, at, model } = change
  const none = { grain, at, model, runs: 0, cost: 0n, firstTokens: noFirstTokens() }
  // Two first writers at once: one adds the row, and the other waits for it.
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
