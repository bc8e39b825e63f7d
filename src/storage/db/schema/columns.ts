/** The column types of the schema, realised for SQLite and for PostgreSQL. */
import { sql } from 'drizzle-orm'
import * as pg from 'drizzle-orm/pg-core'
import * as lite from 'drizzle-orm/sqlite-core'

/** The type checker sees SQLite's columns; both engines give the same TypeScript values. */
export type Columns = typeof sqliteColumns

const liteMoney = lite.customType<{ data: bigint; driverData: number | bigint }>({
  dataType: () => 'integer',
  fromDriver: (stored) => BigInt(stored),
  toDriver: (amount) => amount,
})

const liteNumber = lite.customType<{ data: number; driverData: number | bigint }>({
  dataType: () => 'integer',
  fromDriver: (stored) => Number(stored),
  toDriver: (value) => value,
})

const liteBytes = lite.customType<{ data: Uint8Array; driverData: Uint8Array }>({
  dataType: () => 'blob',
})

const pgMoney = pg.customType<{ data: bigint; driverData: string | number | bigint }>({
  dataType: () => 'bigint',
  fromDriver: (stored) => BigInt(stored),
  toDriver: (amount) => amount.toString(),
})

/** Copies: the drivers' values may alias their read buffers. */
const pgBytes = pg.customType<{ data: Uint8Array; driverData: Uint8Array }>({
  dataType: () => 'bytea',
  fromDriver: (stored) => new Uint8Array(stored),
  toDriver: (value) => Buffer.from(value),
})

/** JSON is text on both engines: no query looks inside, and its bytes stay the same. */
const pgJson = pg.customType<{ data: unknown; driverData: string }>({
  dataType: () => 'text',
  fromDriver: (stored) => JSON.parse(stored),
  toDriver: (value) => JSON.stringify(value),
})

/** A list of objects with the same fields, stored as their values alone. */
const rowsOf = <T extends object>(fields: readonly (keyof T & string)[]) => ({
  dataType: () => 'text',
  toDriver: (rows: T[]) => JSON.stringify(rows.map((row) => fields.map((field) => row[field]))),
  fromDriver: (stored: string): T[] =>
    JSON.parse(stored).map((row: unknown[]) =>
      Object.fromEntries(fields.map((field, i) => [field, row[i]])),
    ),
})

type Rows<T> = { data: T[]; driverData: string }

export const sqliteColumns = {
  table: lite.sqliteTable,
  index: lite.index,
  uniqueIndex: lite.uniqueIndex,
  primaryKey: lite.primaryKey,
  check: lite.check,
  text: (name: string) => lite.text(name),
  /** A whole number within ±2^31. */
  int: (name: string) => liteNumber(name),
  /** Milliseconds since the Unix epoch, or another whole number within ±2^53. */
  ms: (name: string) => liteNumber(name),
  bool: (name: string) => lite.integer(name, { mode: 'boolean' }),
  json: <T>(name: string) => lite.text(name, { mode: 'json' }).$type<T>(),
  /** A short list of `T`, whose fields are all of these. */
  rows: <T extends object>(name: string, fields: readonly (keyof T & string)[]) =>
    lite.customType<Rows<T>>(rowsOf<T>(fields))(name),
  /** Nano-USD. */
  money: (name: string) => liteMoney(name),
  bytes: (name: string) => liteBytes(name),
  /** In an index: finds texts by how they begin, whatever the collation of the server. */
  byStart: (column: unknown) => sql`${column}`,
  /** Indexes and checks that only a server needs. */
  onServer: <T>(_: T[]): T[] => [],
}

export const pgColumns = {
  table: pg.pgTable,
  index: pg.index,
  uniqueIndex: pg.uniqueIndex,
  primaryKey: pg.primaryKey,
  check: pg.check,
  text: (name: string) => pg.text(name),
  int: (name: string) => pg.integer(name),
  ms: (name: string) => pg.bigint(name, { mode: 'number' }),
  bool: (name: string) => pg.boolean(name),
  json: (name: string) => pgJson(name),
  rows: (name: string, fields: readonly never[]) =>
    pg.customType<Rows<object>>(rowsOf<object>(fields))(name),
  money: (name: string) => pgMoney(name),
  bytes: (name: string) => pgBytes(name),
  byStart: (column: unknown) => sql`${column} text_pattern_ops`,
  onServer: <T>(needed: T[]): T[] => needed,
} as unknown as Columns
