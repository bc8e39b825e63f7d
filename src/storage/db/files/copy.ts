/** Copies every table from one engine to the other, and tallies what a database holds. */
import { getTableColumns, getTableName, type SQL, sql } from 'drizzle-orm'
import { getTableConfig, type SQLiteColumn, type SQLiteTable } from 'drizzle-orm/sqlite-core'
import { sha256 } from '../../../kernel/hash.ts'
import type { Db } from '../engine/db.ts'
import type { PgDirect } from '../engine/pg-drizzle.ts'
import type { Tables } from '../schema/schema.ts'
import { rows, type Values } from '../sql/query-steps.ts'
import { primaryKeyOf } from '../sql/statements.ts'

/** Rows read and written in one step. */
const pageRows = 512

/** The row count of a table and a sum of row hashes that does not depend on their order. */
export type Tally = { table: string; rows: number; digest: string }

type Source = Pick<Db, 'read' | 'tables'>

/** Copies every table and calls `tell` after each one. */
export async function copyTables(
  from: Source,
  to: { pg: PgDirect; tables: Tables },
  tell: (tally: Tally) => void,
): Promise<Tally[]> {
  const tallies: Tally[] = []
  for (const name of tableNames(from.tables)) {
    const target = to.tables[name] as SQLiteTable
    const counted = counter(getTableName(target))
    for await (const page of pagesOf(from, name, from.tables)) {
      counted.add(page)
      await to.pg.execute(adding(target, page))
    }
    tallies.push(counted.tally())
    tell(counted.tally())
  }
  return tallies
}

/** Tallies every table; `keys` are SQLite's tables, whose primary keys order both engines. */
export async function tallyTables(db: Source, keys: Tables): Promise<Tally[]> {
  const tallies: Tally[] = []
  for (const name of tableNames(keys)) {
    const counted = counter(getTableName(keys[name]))
    for await (const page of pagesOf(db, name, keys)) counted.add(page)
    tallies.push(counted.tally())
  }
  return tallies
}

/** @throws Error when the target schema of a PostgreSQL database has a table. */
export async function assertNoTables(pg: PgDirect): Promise<void> {
  const listed = await pg.execute(
    sql`select tablename from pg_tables where schemaname = current_schema() limit 1`,
  )
  const found = Array.isArray(listed) ? listed : (listed as { rows: unknown[] }).rows
  const [first] = found as { tablename: string }[]
  if (!first) return
  const why = `the target database already has a table: ${first.tablename}`
  throw new Error(`${why}; create an empty database with createdb`)
}

const tableNames = (tables: Tables): (keyof Tables)[] => Object.keys(tables) as (keyof Tables)[]

/** One parameter for all rows, which is faster than binding values one by one. */
function adding(table: SQLiteTable, page: Values[]): SQL {
  const columns = Object.entries(getTableColumns(table))
  const records = page.map((row) =>
    Object.fromEntries(columns.map(([field, column]) => [column.name, textOf(column, row[field])])),
  )
  // As text: the client would encode a json parameter a second time.
  const list = sql`${JSON.stringify(records)}::text::json`
  return sql`insert into ${table} select * from json_populate_recordset(null::${table}, ${list})`
}

/** A value as PostgreSQL reads it from JSON. */
function textOf(column: SQLiteColumn, value: unknown): unknown {
  if (value === null || value === undefined) return null
  const stored = column.mapToDriverValue(value)
  return stored instanceof Uint8Array ? `\\x${Buffer.from(stored).toString('hex')}` : stored
}

/** All rows of a table in the order of its primary key. */
async function* pagesOf(
  db: Source,
  name: keyof Tables,
  keys: Tables,
): AsyncGenerator<Values[], void, void> {
  const table = db.tables[name] as SQLiteTable
  const columns: Record<string, SQLiteColumn> = getTableColumns(table)
  const names = primaryKeyOf(getTableConfig(keys[name] as SQLiteTable))
  const key = Object.entries(columns).filter(([, { name }]) => names.includes(name))
  const order = key.map(([, column]) => column)
  let last: Values | undefined
  for (;;) {
    const beyond: SQL | undefined = last && isBeyond(key, last)
    const page: Values[] = await db.read((q) =>
      rows(
        q
          .select()
          .from(table)
          .where(beyond)
          .orderBy(...order)
          .limit(pageRows),
      ),
    )
    if (page.length > 0) yield page
    if (page.length < pageRows) return
    last = page.at(-1)
  }
}

/** Rows whose primary key comes after that of a row. */
function isBeyond(key: [field: string, column: SQLiteColumn][], last: Values): SQL {
  const columns = key.map(([, column]) => sql`${column}`)
  const values = key.map(([field, column]) => sql`${sql.param(last[field], column)}`)
  return sql`(${sql.join(columns, sql`, `)}) > (${sql.join(values, sql`, `)})`
}

function counter(table: string) {
  let rows = 0
  let sum = 0n
  return {
    add(page: Values[]): void {
      rows += page.length
      for (const row of page) sum += hashOfRow(row)
    },
    tally: (): Tally => ({ table, rows, digest: BigInt.asUintN(256, sum).toString(16) }),
  }
}

/** Both engines return the same values in the same column order. */
function hashOfRow(row: Values): bigint {
  const hash = sha256(JSON.stringify(row, plain))
  return BigInt(`0x${Buffer.from(hash).toString('hex')}`)
}

const plain = (_: string, value: unknown): unknown => {
  if (typeof value === 'bigint') return `${value}n`
  return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value
}
