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

/** The bytes of one signature. */
export const signatureBytes = 65
/** The most signatures in one row: more would not fit into a tuple of PostgreSQL as it is. */
export const signaturesMax = 30

/**
 * The signature of a run's receipt, by its place, in the last row that begins at or before it. The
 * table comes first: a revocation writes there what replaces the signatures of versions before,
 * which `runs` holds.
 */
export const signatureAt = (place: SQL): SQL<Uint8Array | null> =>
  sql`coalesce((
    select substr(s."signature", cast(${place} - s."place" as integer) * ${bytes} + 1, ${bytes})
    from "receipt_signatures" s
    where s."place" <= ${place} and s."place" > ${place} - ${sql.raw(String(signaturesMax))}
      and s."place" + length(s."signature") / ${bytes} > ${place}
    order by s."place" desc limit 1), "runs"."signature")`

const bytes = sql.raw(String(signatureBytes))
