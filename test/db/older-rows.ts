import { type Column, getTableColumns, getTableName } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Db } from '../../src/storage/db/db.ts'
import { direct } from './direct.ts'

/** Inserts rows without columns that they do not name, and those that an older schema lacks. */
export async function insertOlder(
  db: Db,
  table: SQLiteTable,
  older: readonly object[],
  without: readonly string[] = [],
): Promise<void> {
  const columns = Object.entries(getTableColumns(table)).filter(
    ([field]) => !without.includes(field) && older.some((row) => field in row),
  )
  const names = columns.map(([, { name }]) => `"${name}"`).join(', ')
  for (const row of older) {
    const fields = row as Record<string, unknown>
    const values = columns.map(([field, column]) => literal(db, column, fields[field]))
    await direct(db, `insert into ${getTableName(table)} (${names}) values (${values.join(', ')})`)
  }
}

function literal({ engine }: Db, column: Column, value: unknown): string {
  if (value === null || value === undefined) return 'null'
  const stored = column.mapToDriverValue(value)
  if (stored instanceof Uint8Array) {
    const hex = Buffer.from(stored).toString('hex')
    return engine === 'sqlite' ? `x'${hex}'` : `'\\x${hex}'`
  }
  return typeof stored === 'string' ? `'${stored.replaceAll("'", "''")}'` : String(stored)
}
