import { getTableColumns, getTableName } from 'drizzle-orm'
import { getTableConfig, type SQLiteColumn } from 'drizzle-orm/sqlite-core'
import type { Step, Values } from './db.ts'

/** A statement for one row: its text, and how a row becomes its parameters. */
export type RowStatement = { text: string; bind(row: Values): unknown[] }

type Writing = Extract<Step, { kind: 'insert' | 'upsert' | 'update' }>

/** The SQLite text of an insert, upsert or update of single rows, to be compiled once. */
export function rowStatement(step: Writing): RowStatement {
  const { table } = step
  const columns = Object.entries(getTableColumns(table))
  const keys = primaryKeyOf(getTableConfig(table))
  const name = quote(getTableName(table))
  if (step.kind === 'update') {
    const bound = columns.filter(([field]) => step.set.includes(field))
    const where = columns.filter(([, column]) => keys.includes(column.name))
    const text = `update ${name} set ${assign(bound)} where ${assign(where, ' and ')}`
    return { text, bind: binder([...bound, ...where]) }
  }
  const marks = columns.map(() => '?').join(', ')
  const names = columns.map(([, column]) => quote(column.name)).join(', ')
  const text = `insert into ${name} (${names}) values (${marks})`
  if (step.kind === 'insert') return { text, bind: binder(columns) }
  const set = columns
    .filter(([field]) => step.set.includes(field))
    .map(([, column]) => `${quote(column.name)} = excluded.${quote(column.name)}`)
  const conflict = `on conflict (${keys.map(quote).join(', ')}) do update set ${set.join(', ')}`
  return { text: `${text} ${conflict}`, bind: binder(columns) }
}

/** The names of a table's primary key columns, alone or composite. */
export function primaryKeyOf(config: Pick<Config, 'columns' | 'primaryKeys'>): string[] {
  const composite = config.primaryKeys.at(0)?.columns.map((column) => column.name)
  return composite ?? config.columns.filter((column) => column.primary).map((column) => column.name)
}

type Config = ReturnType<typeof getTableConfig>

type Field = [field: string, column: SQLiteColumn]

const quote = (name: string): string => `"${name}"`

const assign = (fields: Field[], joint = ', '): string =>
  fields.map(([, column]) => `${quote(column.name)} = ?`).join(joint)

function binder(fields: Field[]): RowStatement['bind'] {
  return (row) =>
    fields.map(([field, column]) => {
      const value = row[field]
      return value === null || value === undefined ? null : column.mapToDriverValue(value)
    })
}
