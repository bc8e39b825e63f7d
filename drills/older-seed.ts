import { Database, type SQLQueryBindings } from 'bun:sqlite'
import { join } from 'node:path'
import { getTableColumns, getTableName } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import { digestOf, type Ended, factsOf } from '../src/proof/receipts/receipt.ts'
import { sqliteColumns } from '../src/storage/db/columns.ts'
import { buildSchema } from '../src/storage/db/schema.ts'
import { type Seed, type Spent, seededRuns } from './seed.ts'

const tables = buildSchema(sqliteColumns)

/** Writes the runs of a seed as a version before 0010 stored them: numbered by its next start. */
export function seedOlder(seed: Seed): void {
  const raw = new Database(join(seed.data, 'counterfoil.db'), { safeIntegers: true })
  raw.run('PRAGMA synchronous = OFF')
  const found = raw.query('SELECT * FROM accounts WHERE id = ?').get(seed.account)
  if (!found) throw new Error('the account has no credit')
  const owner = rowOf(tables.accounts, found as Stored) as typeof tables.accounts.$inferSelect
  const spent: Spent = {}
  for (const unproven of seededRuns(seed, owner, spent)) {
    // Lists check each receipt against its digest.
    const ended = unproven.map((run) => ({ ...run, digest: digestOf(factsOf(run as Ended)) }))
    raw.transaction(() => {
      insertOlder(raw, tables.runs, ended)
      const charged = ended.filter(({ seq }) => seq !== null)
      const sides = { kind: 'run', source: 'user', target: 'revenue' }
      insertOlder(
        raw,
        tables.transfers,
        charged.map(({ id: ref, accountId, cost: amount, movedAt: at, seq, balance }) => {
          return { accountId, ref, ...sides, amount, at, seq, balance }
        }),
      )
    })()
  }
  const { balance, moves, movedAt } = owner
  raw.run('UPDATE accounts SET balance = ?, moves = ?, moved_at = ? WHERE id = ?', [
    ...[balance, moves, movedAt, seed.account],
  ])
  const window = { windowStart: 0, limit: 9_000_000_000_000_000n, held: 0n }
  const windows = Object.entries(spent).map(([keyId, sum]) => ({ keyId, ...window, spent: sum }))
  insertOlder(raw, tables.keyWindows, windows)
  raw.run('PRAGMA wal_checkpoint(TRUNCATE)')
  raw.close()
}

type Stored = Record<string, unknown>

function rowOf(table: SQLiteTable, stored: Stored): Stored {
  const columns = Object.entries(getTableColumns(table))
  const read = columns.map(([field, column]) => {
    // The older table lacks columns of later steps.
    const value = stored[column.name] ?? null
    return [field, value === null ? null : column.mapFromDriverValue(value)]
  })
  return Object.fromEntries(read)
}

/** Inserts rows with the columns that the file has. */
function insertOlder(raw: Database, table: SQLiteTable, rows: readonly object[]): void {
  const name = getTableName(table)
  const has = raw.query('SELECT name FROM pragma_table_info(?)').values(name).flat()
  const columns = Object.entries(getTableColumns(table)).filter(([, one]) => has.includes(one.name))
  const names = columns.map(([, column]) => `"${column.name}"`)
  const marks = columns.map(() => '?')
  const statement = raw.query(`INSERT INTO ${name} (${names}) VALUES (${marks})`)
  for (const row of rows) {
    const fields = row as Stored
    const values = columns.map(([field, column]) => {
      const value = fields[field] ?? null
      // Lines were stored with their names.
      if (Array.isArray(value)) return JSON.stringify(value)
      return value === null ? null : column.mapToDriverValue(value)
    })
    statement.run(...(values as SQLQueryBindings[]))
  }
}
