/** The steps that a store's work yields; each engine runs them in its own way. */
import type { BaseSQLiteDatabase, SQLiteTable } from 'drizzle-orm/sqlite-core'

/**
 * A command of a store: a generator that only `yield*`s the steps below, so it cannot await the
 * network inside a transaction. SQLite runs it synchronously between BEGIN IMMEDIATE and COMMIT;
 * PostgreSQL runs the same generator asynchronously, with retries.
 */
export type Work<T> = Generator<Step, T, unknown>

/** The part of drizzle that both engines share, typed once as SQLite's. */
export type Query = Omit<BaseSQLiteDatabase<'sync', void>, 'transaction' | '$client'>

type Runnable = { all(): unknown; run(): unknown }

/** A row, keyed by column names in TypeScript. */
export type Values = Record<string, unknown>

/** For each column, the values to look for. */
export type Lists = Record<string, readonly (string | number)[]>

export type Step =
  | { kind: 'rows'; query: Runnable; lock: boolean }
  | { kind: 'prepared'; name: string; values: Values; build: (values: Values) => Runnable }
  | {
      kind: 'find'
      table: SQLiteTable
      where: Lists
      lock: boolean
      /** All columns when absent. */
      fields?: readonly string[]
    }
  | { kind: 'together'; steps: Step[] }
  | { kind: 'insert'; table: SQLiteTable; rows: Values[] }
  | { kind: 'upsert'; table: SQLiteTable; rows: Values[]; set: string[] }
  | { kind: 'update'; table: SQLiteTable; rows: Values[]; set: string[] }
  | { kind: 'remove'; table: SQLiteTable; rows: Values[]; set: [] }

type Selecting<T> = { all(): T[]; run(): unknown }

/** The rows of a query, also of a changing one with `returning()`. */
export function* rows<T>(query: Selecting<T>): Generator<Step, T[], unknown> {
  return (yield { kind: 'rows', query, lock: false }) as T[]
}

/** Like {@link rows}, for rows this transaction will change: locks them on PostgreSQL. */
export function* lockedRows<T>(query: Selecting<T>): Generator<Step, T[], unknown> {
  return (yield { kind: 'rows', query, lock: true }) as T[]
}

/** The first row of a query, if there is one. */
export function* first<T>(query: Selecting<T>): Generator<Step, T | undefined, unknown> {
  return ((yield { kind: 'rows', query, lock: false }) as T[])[0]
}

/** A query that is built once under `name`, with placeholders; SQLite compiles it once too. */
export function* prepared<V extends Values, T>(
  name: string,
  values: V,
  build: (values: V) => Selecting<T>,
): Generator<Step, T[], unknown> {
  const step = { kind: 'prepared', name, values, build: build as (values: Values) => Runnable }
  return (yield step as Step) as T[]
}

/** The values to look for in columns of a table; a row fits if it has one of each. */
type ColumnLists<T extends SQLiteTable> = {
  [F in keyof T['$inferSelect'] & string]?: readonly (string | number)[]
}

/** Finds whole rows by lists of values; compiled once, in primary key order. */
export const findRows = <T extends SQLiteTable>(table: T, where: ColumnLists<T>) =>
  find(table, where, false)

/** Like {@link findRows}, for rows this transaction will change: locks them on PostgreSQL. */
export const lockFound = <T extends SQLiteTable>(table: T, where: ColumnLists<T>) =>
  find(table, where, true)

/** Like {@link findRows}, of which it reads these columns only. */
export function* findFields<T extends SQLiteTable, F extends keyof T['$inferSelect'] & string>(
  table: T,
  fields: readonly F[],
  where: ColumnLists<T>,
): Generator<Step, Pick<T['$inferSelect'], F>[], unknown> {
  return yield* find(table, where, false, fields)
}

function* find<T extends SQLiteTable>(
  table: T,
  where: ColumnLists<T>,
  lock: boolean,
  fields?: readonly string[],
): Generator<Step, T['$inferSelect'][], unknown> {
  const lists = where as Lists
  if (Object.values(lists).some((values) => values.length === 0)) return []
  const step: Step = { kind: 'find', table, where: lists, lock, ...(fields && { fields }) }
  return (yield step) as T['$inferSelect'][]
}

/** Runs several works side by side: a server gets the next step of each before it answers one. */
export function* together(works: readonly Work<void>[]): Work<void> {
  let going = works.map((work) => ({ work, turn: work.next() })).filter(({ turn }) => !turn.done)
  while (going.length > 0) {
    const steps = going.flatMap(({ turn }) => (turn.done ? [] : turn.value))
    const outcomes = (yield { kind: 'together', steps }) as unknown[]
    going = going
      .map(({ work }, i) => ({ work, turn: work.next(outcomes[i]) }))
      .filter(({ turn }) => !turn.done)
  }
}

/** Adds whole rows. Fails as one when any of them breaks a constraint. */
export const insert = <T extends SQLiteTable>(
  table: T,
  added: T['$inferSelect'][],
): Generator<Step, void, unknown> =>
  added.length > 0 ? one({ kind: 'insert', table, rows: added }) : nothing

/** Adds whole rows, or writes the columns in `set`, which can be none, where the key exists. */
export const upsert = <T extends SQLiteTable>(
  table: T,
  changed: T['$inferSelect'][],
  set: (keyof T['$inferSelect'] & string)[],
): Generator<Step, void, unknown> =>
  changed.length > 0 ? one({ kind: 'upsert', table, rows: changed, set }) : nothing

/** Writes the columns in `set` of rows that exist, found by primary key. */
export const update = <T extends SQLiteTable>(
  table: T,
  changed: Partial<T['$inferSelect']>[],
  set: (keyof T['$inferSelect'] & string)[],
): Generator<Step, void, unknown> =>
  changed.length > 0 ? one({ kind: 'update', table, rows: changed, set }) : nothing

/** Deletes rows, found by primary key. */
export const remove = <T extends SQLiteTable>(
  table: T,
  gone: Partial<T['$inferSelect']>[],
): Generator<Step, void, unknown> =>
  gone.length > 0 ? one({ kind: 'remove', table, rows: gone, set: [] }) : nothing

function* one(step: Step): Generator<Step, void, unknown> {
  yield step
}

/** A work that is over: most tables have no rows in most batches. */
const nothing = one({ kind: 'together', steps: [] })
nothing.return()
