/** Compiles the SQLite text of steps on single rows. */
import { Column, getTableColumns, getTableName, sql } from 'drizzle-orm'
import { getTableConfig, type SQLiteColumn } from 'drizzle-orm/sqlite-core'
import type { Lists, Step, Values } from './query-steps.ts'

/**
 * A statement for one row: its text, and how a row becomes its parameters, in a list that the next
 * row overwrites.
 */
export type RowStatement = { text: string; bind(row: Values): unknown[] }

export type Writing = Extract<Step, { kind: 'insert' | 'upsert' | 'update' | 'remove' }>
export type Finding = Extract<Step, { kind: 'find' }>

/** The SQLite text of a change of single rows, to be compiled once. */
export function rowStatement(step: Writing): RowStatement {
  const { table } = step
  const columns = Object.entries(getTableColumns(table))
  const keys = primaryKeyOf(getTableConfig(table))
  const name = quote(getTableName(table))
  const where = columns.filter(([, column]) => keys.includes(column.name))
  if (step.kind === 'remove') {
    const text = `delete from ${name} where ${assign(where, ' and ')}`
    return { text, bind: binder(where) }
  }
  if (step.kind === 'update') {
    const bound = columns.filter(([field]) => step.set.includes(field))
    const text = `update ${name} set ${assign(bound)} where ${assign(where, ' and ')}`
    return { text, bind: binder([...bound, ...where]) }
  }
  const marks = columns.map(() => '?').join(', ')
  const text = `insert into ${name} (${namesOf(columns)}) values (${marks})`
  if (step.kind === 'insert') return { text, bind: binder(columns) }
  const set = columns.filter(([field]) => step.set.includes(field))
  return { text: `${text} ${onConflict(keys, set)}`, bind: binder(columns) }
}

/** A look-up by one value in each of some columns. */
export type PointLookUp = {
  text: string
  /** The parameters of each single look-up. */
  bind(where: Lists): (string | number)[][]
  read(answer: unknown[]): Values
}

/** The SQLite text of a look-up, to be compiled once. */
export function pointLookUp({ table, where, fields }: Finding): PointLookUp {
  const all: Field[] = Object.entries(getTableColumns(table))
  const columns = fields ? all.filter(([field]) => fields.includes(field)) : all
  const asked = all.filter(([field]) => field in where)
  const from = quote(getTableName(table))
  return {
    text: `select ${namesOf(columns)} from ${from} where ${assign(asked, ' and ')}`,
    bind: (lists) =>
      asked.reduce<(string | number)[][]>(
        (made, [field]) =>
          made.flatMap((values) => (lists[field] ?? []).map((value) => [...values, value])),
        [[]],
      ),
    read: reader(columns),
  }
}

/** Compiles a step once for each table and shape. */
export function compiledOnce<S extends Writing | Finding, T>(make: (step: S) => T): (step: S) => T {
  const made = new WeakMap<object, Map<string, T>>()
  return (step) => {
    const ofTable = made.get(step.table) ?? new Map<string, T>()
    made.set(step.table, ofTable)
    const shape = shapeOf(step)
    const known = ofTable.get(shape) ?? make(step)
    ofTable.set(shape, known)
    return known
  }
}

/** Makes placeholders for the values of a query that is built once. */
export const placeholders = (values: Values): Values =>
  Object.fromEntries(Object.keys(values).map((name) => [name, sql.placeholder(name) as unknown]))

function shapeOf(step: Writing | Finding): string {
  if (step.kind === 'find') {
    return `find ${step.lock} ${Object.keys(step.where).join()} ${step.fields?.join()}`
  }
  return step.kind === 'insert' ? step.kind : `${step.kind} ${step.set.join()}`
}

/** Turns values in column order into a row. */
export function reader(columns: [field: string, column: Column][]): (answer: unknown[]) => Values {
  return (answer) => {
    const row: Values = {}
    let place = 0
    for (const [field, column] of columns) {
      const value = answer[place++]
      row[field] = value === null ? null : column.mapFromDriverValue(value)
    }
    return row
  }
}

/** The names of a table's primary key columns, alone or composite. */
export function primaryKeyOf(config: KeyedTable): string[] {
  const composite = config.primaryKeys.at(0)?.columns.map((column) => column.name)
  return composite ?? config.columns.filter((column) => column.primary).map((column) => column.name)
}

/** The parts of a table's configuration that name its key. */
export type KeyedTable = Pick<ReturnType<typeof getTableConfig>, 'columns' | 'primaryKeys'>

type Field = [field: string, column: SQLiteColumn]

type NamedColumns = readonly (readonly [field: string, column: Pick<Column, 'name'>])[]

/** A name as both engines read it. */
export const quote = (name: string): string => `"${name}"`

/** The names of columns, as a list. */
export const namesOf = (fields: NamedColumns): string =>
  fields.map(([, { name }]) => quote(name)).join(', ')

/** The conflict clause of an upsert: overwrites these columns; without any it keeps the row. */
export function onConflict(keys: readonly string[], set: NamedColumns): string {
  if (set.length === 0) return 'on conflict do nothing'
  const taken = set.map(([, { name }]) => `${quote(name)} = excluded.${quote(name)}`)
  return `on conflict (${keys.map(quote).join(', ')}) do update set ${taken.join(', ')}`
}

const assign = (fields: Field[], joint = ', '): string =>
  fields.map(([, column]) => `${quote(column.name)} = ?`).join(joint)

function binder(fields: Field[]): RowStatement['bind'] {
  const bound = fields.map(([field, column]) => ({ field, column, isAsIs: keepsValues(column) }))
  const values: unknown[] = bound.map(() => null)
  return (row) => {
    let place = 0
    for (const { field, column, isAsIs } of bound) {
      const value = row[field] ?? null
      values[place++] = value === null || isAsIs ? value : column.mapToDriverValue(value)
    }
    return values
  }
}

/** Whether the driver takes the row's value as it is, as with text. */
const keepsValues = (column: Column): boolean =>
  column.mapToDriverValue === Column.prototype.mapToDriverValue
