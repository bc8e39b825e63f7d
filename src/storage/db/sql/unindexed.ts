/** Compares a column without letting SQLite use its index. */
import { type AnyColumn, inArray, type SQL, sql } from 'drizzle-orm'

/**
 * For a column beside a condition that already selects few rows: SQLite would choose an index that
 * begins with this column, such as that of all runs of an account, and read it whole.
 */
export const equalsUnindexed = (column: AnyColumn, value: string): SQL =>
  sql`${column} || '' = ${value}`

/** {@link equalsUnindexed} for several values. */
export const inListUnindexed = (column: AnyColumn, values: readonly string[]): SQL =>
  inArray(sql`${column} || ''`, [...values])
