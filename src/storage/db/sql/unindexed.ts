/** Compares a column without letting SQLite use its index. */
import { type AnyColumn, inArray, type SQL, sql } from 'drizzle-orm'

/**
 * For a column beside a condition that already selects few rows: SQLite would choose an index that
 * begins with this column, such as that of all runs of an account, and read it whole.
 */
export const equalsUnindexed = (column: AnyColumn, value: string): SQL =>
  sql`${column} || '' = ${value}`

/** The same for a column that is one of some values. */
export const inListUnindexed = (column: AnyColumn, values: readonly string[]): SQL =>
  inArray(sql`${column} || ''`, [...values])
