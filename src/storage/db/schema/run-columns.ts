/** The columns of an ended run, with the place and the signature of its receipt beside it. */
import { getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { Db } from '../engine/db.ts'

/**
 * The columns of {@link EndedRun}s, for a `select` from `runs`; `place` is the SQL of the log place
 * if the caller has it. Where one process writes, a run's row holds its place; elsewhere the leaf
 * in the log names the run. SQL texts, because a select from one table omits the table's name.
 */
export function runColumns(
  { tables: { runs, receiptSignatures }, exclusive }: Pick<Db, 'tables' | 'exclusive'>,
  place: SQL = placeOf(exclusive),
) {
  const { seq: _s, movedAt: _m, balance: _b, ...own } = getTableColumns(runs)
  return {
    ...own,
    logPlace: place.mapWith(runs.logPlace) as SQL<number | null>,
    signature: signatureAt(place).mapWith(receiptSignatures.signature) as SQL<Uint8Array | null>,
  }
}

/** A database that was copied to a server has places in both. */
const placeOf = (exclusive: boolean): SQL =>
  sql.raw(exclusive ? '"runs"."log_place"' : `coalesce("runs"."log_place", ${placeOfLeaf})`)

const placeOfLeaf = '(select "idx" from "log_leaves" where "run_id" = "runs"."id")'

/** The bytes of one signature. */
export const signatureBytes = 65
/** The most signatures in one row: more would not fit into a tuple of PostgreSQL as it is. */
export const signaturesMax = 30

/** The signature of the receipt at a place, in the last row that begins at or before it. */
export const signatureAt = (place: SQL): SQL<Uint8Array | null> =>
  sql`(
    select substr(s."signature", cast(${place} - s."place" as integer) * ${bytes} + 1, ${bytes})
    from "receipt_signatures" s
    where s."place" <= ${place} and s."place" > ${place} - ${sql.raw(String(signaturesMax))}
      and s."place" + length(s."signature") / ${bytes} > ${place}
    order by s."place" desc limit 1)`

const bytes = sql.raw(String(signatureBytes))
