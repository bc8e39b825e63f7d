/** Reads open runs: those with a row, of all nodes, and those in the memory of this one. */
import { eq, type SQL } from 'drizzle-orm'
import type { Db } from '../../storage/db/engine/db.ts'
import type { RunRow } from '../../storage/db/schema/schema.ts'
import { first, type Query, rows, type Work } from '../../storage/db/sql/query-steps.ts'
import { toRunRow } from '../../storage/holds/open-runs.ts'

export function openRunReads({ open, tables: { openRuns } }: Pick<Db, 'open' | 'tables'>) {
  return {
    *find(q: Query, id: string): Work<RunRow | undefined> {
      const run = open.find(id)
      if (run) return run
      const row = yield* first(q.select().from(openRuns).where(eq(openRuns.id, id)))
      return row && toRunRow(row)
    },
    /**
     * The open runs that `where` finds among the rows and `fits` among all of them, newest first.
     * Read them before the ended ones: a run that ends in between is then in both.
     */
    *matching(q: Query, where: SQL | undefined, fits: (run: RunRow) => boolean): Work<RunRow[]> {
      const stored = (yield* rows(q.select().from(openRuns).where(where))).map(toRunRow)
      return [...open.all(), ...stored].filter(fits).sort(byId)
    },
  }
}

/** Open and ended runs as one list, newest first; one in both has ended. */
export function withEnded<R extends Pick<RunRow, 'id'>>(opened: readonly R[], ended: R[]): R[] {
  if (opened.length === 0) return ended
  const known = new Set(ended.map(({ id }) => id))
  return [...opened.filter(({ id }) => !known.has(id)), ...ended].sort(byId)
}

const byId = (a: Pick<RunRow, 'id'>, b: Pick<RunRow, 'id'>): number =>
  a.id < b.id ? 1 : a.id > b.id ? -1 : 0
