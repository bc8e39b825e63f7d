/** Finds texts by how they begin, through an index of `byStart`, and by how they end. */
import { like, type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import type { Db } from '../engine/db.ts'

/**
 * Whether a column of ASCII text begins so. Compares by bytes on both engines: the collation of a
 * server may pass over hyphens.
 */
export function beginsWith(
  { engine }: Pick<Db, 'engine'>,
  column: SQLiteColumn,
  prefix: string,
): SQL {
  const [from, below] = engine === 'sqlite' ? ['>=', '<'] : ['~>=~', '~<~']
  const end = `${prefix}~`
  return sql`${column} ${sql.raw(from)} ${prefix} and ${column} ${sql.raw(below)} ${end}`
}

/** Whether the id in a column ends so. No index helps: bound what is read. */
export const endsWith = (column: SQLiteColumn, end: string): SQL => like(column, `%${end}`)
