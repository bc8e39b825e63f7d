/** Adds nullable columns to tables of a SQLite file without reading their rows. */
import { Database } from 'bun:sqlite'
import type { DatabaseSync } from 'node:sqlite'

/**
 * Takes the `ALTER TABLE … ADD` of nullable columns ahead of a migration, which then skips them.
 * SQLite itself checks every row after each, seconds for a million, although no row changes. So
 * it is asked what the table's text becomes on an empty copy of it, and that text is stored. Takes
 * none if anything fails: then the migration runs the statements.
 */
export function addColumns(file: string, statements: readonly string[]): void {
  const adding = statements.filter((statement) => addedBy(statement))
  if (adding.length === 0) return
  // A connection of `bun:sqlite` may never write the schema. Loaded here: it takes milliseconds.
  const sqlite = require('node:sqlite') as typeof import('node:sqlite')
  let db: DatabaseSync | undefined
  try {
    db = new sqlite.DatabaseSync(file, { timeout: waitMs, defensive: false })
    db.exec('BEGIN IMMEDIATE')
    writeTexts(db, adding)
    db.exec('COMMIT')
  } catch {
    if (db?.isTransaction) db.exec('ROLLBACK')
  } finally {
    db?.close()
  }
}

/** How long it waits for another process that writes the same file, in ms. */
const waitMs = 10_000

/** What a statement adds, if it is a nullable column. */
function addedBy(statement: string): { table: string; column: string } | undefined {
  const found = /^ALTER TABLE `(\w+)` ADD `(\w+)` (?:integer|text|blob);?$/.exec(statement.trim())
  const [, table, column] = found ?? []
  return table && column ? { table, column } : undefined
}

const findText = "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?"
const changeText = "UPDATE sqlite_schema SET sql = ? WHERE type = 'table' AND name = ?"

/** @throws Error if SQLite cannot read what was written. */
function writeTexts(db: DatabaseSync, adding: readonly string[]): void {
  const { schema_version: version } = db.prepare('PRAGMA schema_version').get() ?? {}
  db.exec('PRAGMA writable_schema = ON')
  for (const [table, own] of Map.groupBy(adding, (statement) => addedBy(statement)?.table ?? '')) {
    const stored = db.prepare(findText).get(table) as { sql: string } | undefined
    if (stored) db.prepare(changeText).run(textAfter(table, stored.sql, own), table)
  }
  // All connections read the schema again, this one before the COMMIT.
  db.exec(`PRAGMA schema_version = ${Number(version) + 1}`)
  db.exec('PRAGMA writable_schema = RESET')
  for (const statement of adding) {
    const { table = '', column } = addedBy(statement) ?? {}
    const look = `SELECT "${table}"."${column}" FROM "${table}" LIMIT 1`
    if (db.prepare(findText).get(table)) db.prepare(look).get()
  }
}

/** The text of a table with columns that it lacks. */
function textAfter(table: string, text: string, adding: readonly string[]): string {
  const empty = new Database(':memory:')
  try {
    empty.run(text)
    for (const statement of adding) if (!hasAdded(empty, statement)) empty.run(statement)
    return (empty.query(findText).get(table) as { sql: string }).sql
  } finally {
    empty.close()
  }
}

/** Whether what a statement adds is there already. */
export function hasAdded(raw: Database, statement: string): boolean {
  const added = addedBy(statement)
  const find = 'SELECT 1 FROM pragma_table_info(?) WHERE name = ?'
  return added !== undefined && raw.query(find).get(added.table, added.column) !== null
}
