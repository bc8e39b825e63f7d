/** The columns of an ended run, with the place and the signature of its receipt beside it. */
import { getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { Db } from './db.ts'

/**
 * What `select` names to read runs as {@link RunRow}s from `runs`; `place` is the SQL of it if that
 * is known. A run that ended where one process writes holds its place; elsewhere the leaf in the
 * log names it. Texts of SQL, because a select from one table writes its columns without its name.
 */
export function runColumns(
  { tables: { runs }, exclusive }: Pick<Db, 'tables' | 'exclusive'>,
  place: SQL = placeOf(exclusive),
) {
  const { place: _, seq: _s, movedAt: _m, balance: _b, ...own } = getTableColumns(runs)
  return {
    ...own,
    logPlace: place.mapWith(runs.logPlace) as SQL<number | null>,
    signature: signatureAt(place).mapWith(runs.signature) as SQL<Uint8Array | null>,
  }
}

function placeOf(exclusive: boolean): SQL {
  const leaf = exclusive ? '' : ', (select "idx" from "log_leaves" where "run_id" = "runs"."id")'
  return sql.raw(`coalesce("runs"."log_index", "runs"."place"${leaf})`)
}

/**
 * The signature of a run's receipt, by its place. The table comes first: a revocation writes there
 * what replaces the signatures of versions before, which `runs` holds.
 */
export const signatureAt = (place: SQL): SQL<Uint8Array | null> =>
  sql`coalesce((select s."signature" from "receipt_signatures" s where s."place" = ${place}),
    "runs"."signature")`
