/** Writes a whole number into a statement as a constant. */
import { type SQL, sql } from 'drizzle-orm'

/** PostgreSQL takes an expression with a parameter for another one in GROUP BY. */
export function wholeNumber(value: number): SQL {
  if (!Number.isSafeInteger(value)) throw new Error(`${value} is not a whole number`)
  return sql.raw(String(value))
}
