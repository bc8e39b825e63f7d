import { type AnyColumn, type SQL, sql } from 'drizzle-orm'

/**
 * Compares a text beside a condition that already finds few rows. SQLite would rather take any
 * index that begins with this column, such as that of all runs of an account, and read it whole.
 */
export const isBeside = (column: AnyColumn, value: string): SQL => sql`${column} || '' = ${value}`
