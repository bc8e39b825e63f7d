/** Reads passports together with their counts, as of one moment. */
import { asc, desc, eq, inArray, sql } from 'drizzle-orm'
import type { Db } from '../../../storage/db/engine/db.ts'
import type { PassportRow } from '../../../storage/db/schema/schema.ts'
import { first, type Query, rows, type Work } from '../../../storage/db/sql/query-steps.ts'
import { modelsMax } from '../record.ts'
import { cursorFact } from './passport-counter.ts'

/** A passport's record in parts. `countedTo` is the first log place that it does not count. */
export type Standing = { row: PassportRow; models: string[]; countedTo: number }

/** Passports together with what was counted of them, both of one moment. */
export function standingQueries({ tables }: Db) {
  const { facts, passports, passportModels: models } = tables
  const counted = sql<
    string | null
  >`(select ${facts.value} from ${facts} where ${facts.name} = ${cursorFact})`

  const select = (q: Query) => q.select({ row: passports, counted }).from(passports)

  /** Adds the models of all passports that were found, in one query. */
  function* withModels(q: Query, found: StandingRow[]): Work<Standing[]> {
    if (found.length === 0) return []
    const handles = found.map(({ row }) => row.handle)
    const named = q.select().from(models).where(inArray(models.handle, handles))
    const all = yield* rows(named.orderBy(desc(models.runs), asc(models.model)))
    const byHandle = Map.groupBy(all, ({ handle }) => handle)
    return found.map(({ row, counted: cursor }) => ({
      row,
      models: (byHandle.get(row.handle) ?? []).slice(0, modelsMax).map(({ model }) => model),
      countedTo: Number(cursor ?? 0),
    }))
  }

  return {
    select,
    withModels,
    *one(q: Query, handle: string): Work<Standing | undefined> {
      const found = yield* first(select(q).where(eq(passports.handle, handle)))
      const [standing] = yield* withModels(q, found ? [found] : [])
      return standing
    },
  }
}

type StandingRow = { row: PassportRow; counted: string | null }
