/** Compiles the PostgreSQL text of steps on any number of rows. */
import { type Column, getTableColumns, getTableName } from 'drizzle-orm'
import { getTableConfig, type PgTable } from 'drizzle-orm/pg-core'
import type { Lists, Values } from './query-steps.ts'
import {
  type Finding,
  type KeyedTable,
  namesOf,
  onConflict,
  primaryKeyOf,
  quote,
  reader,
  type Writing,
} from './statements.ts'

/** The text is the same for one row and for a thousand: parameters are one array per column. */
export type BatchStatement = { text: string; bind(rows: Values[]): string[] }

/** The text of a change, to be compiled once. */
export function batchStatement(step: Writing): BatchStatement {
  const { columns, keys, name } = describe(step.table)
  const written: readonly string[] = step.kind === 'insert' ? [] : step.set
  const set = columns.filter(([field]) => written.includes(field))
  const found = columns.filter(([, column]) => keys.includes(column.name))
  const where = keys.map((key) => `t.${quote(key)} = v.${quote(key)}`).join(' and ')
  const [alone] = found
  if (step.kind === 'remove' && alone && found.length === 1) {
    // By the index in any plan, also in one that was made while the table was empty.
    const text = `delete from ${name} where ${quote(alone[1].name)} = any(${arrayOf(alone[1], 0)})`
    return { text, bind: binder(found) }
  }
  if (step.kind === 'remove') {
    const from = `${arraysOf(found)} as v (${namesOf(found)})`
    return { text: `delete from ${name} t using ${from} where ${where}`, bind: binder(found) }
  }
  if (step.kind === 'update') {
    const bound = [...found, ...set]
    const changes = set.map(([, column]) => `${quote(column.name)} = v.${quote(column.name)}`)
    const from = `${arraysOf(bound)} as v (${namesOf(bound)})`
    const text = `update ${name} t set ${changes.join(', ')} from ${from} where ${where}`
    return { text, bind: binder(bound) }
  }
  const added = `insert into ${name} (${namesOf(columns)}) select * from ${arraysOf(columns)}`
  if (step.kind === 'insert') return { text: added, bind: binder(columns) }
  return { text: `${added} ${onConflict(keys, set)}`, bind: binder(columns) }
}

/** The text of a `COPY … FROM STDIN`, and rows in its text format. */
export type CopyStatement = { text: string; lines(rows: Values[]): string }

/**
 * The text of an insert that a server takes as a stream: it parses no arrays, and writes the rows
 * of a page as one record of its log.
 */
export function copyStatement({ table }: Pick<Writing, 'table'>): CopyStatement {
  const { columns, name } = describe(table)
  const lineOf = (row: Values): string =>
    columns
      .map(([field, column]) => {
        const value = row[field]
        return value === null || value === undefined
          ? '\\N'
          : fieldOf(column.mapToDriverValue(value))
      })
      .join('\t')
  return {
    text: `copy ${name} (${namesOf(columns)}) from stdin`,
    lines: (rows) => `${rows.map(lineOf).join('\n')}\n`,
  }
}

/** A look-up by lists of values: its text, its parameters, and how an answer becomes a row. */
export type LookUp = {
  text: string
  bind(where: Lists): string[]
  read(answer: unknown[]): Values
}

/** The text of a look-up. Rows come, and are locked, in the order of the primary key. */
export function lookUp(step: Finding): LookUp {
  const { columns: all, keys, name } = describe(step.table)
  const { fields } = step
  const columns = fields ? all.filter(([field]) => fields.includes(field)) : all
  const asked = all.filter(([field]) => field in step.where)
  const where = asked.map(([, column], i) => `${quote(column.name)} = any(${arrayOf(column, i)})`)
  const order = keys.map(quote).join(', ')
  const found = `select ${namesOf(columns)} from ${name} where ${where.join(' and ')}`
  const text = `${found} order by ${order}${step.lock ? ' for update' : ''}`
  const bind: LookUp['bind'] = (lists) => asked.map(([field]) => literalOf(lists[field] ?? []))
  return { text, bind, read: reader(columns) }
}

type Field = [field: string, column: Column]

/** The table is PostgreSQL's at run time; only the type checker sees it as SQLite's. */
function describe(table: Writing['table']) {
  const config = getTableConfig(table as unknown as PgTable) as unknown as KeyedTable
  const columns: Field[] = Object.entries(getTableColumns(table))
  return { columns, keys: primaryKeyOf(config), name: quote(getTableName(table)) }
}

const arrayOf = (column: Column, place: number): string => `$${place + 1}::${column.getSQLType()}[]`

const arraysOf = (fields: Field[]): string =>
  `unnest(${fields.map(([, column], i) => arrayOf(column, i)).join(', ')})`

const binder =
  (fields: Field[]): BatchStatement['bind'] =>
  (rows) =>
    fields.map(([field, column]) =>
      literalOf(
        rows.map((row) => {
          const value = row[field]
          return value === null || value === undefined ? null : column.mapToDriverValue(value)
        }),
      ),
    )

/** A PostgreSQL array literal. */
const literalOf = (values: readonly unknown[]): string => `{${values.map(itemOf).join(',')}}`

function itemOf(value: unknown): string {
  if (value === null) return 'NULL'
  if (typeof value === 'string') return `"${/["\\]/.test(value) ? escaped(value) : value}"`
  return value instanceof Uint8Array ? `"\\\\x${hexOf(value)}"` : String(value)
}

function fieldOf(value: unknown): string {
  if (typeof value === 'string') return /[\\\t\n\r]/.test(value) ? escapedField(value) : value
  return value instanceof Uint8Array ? `\\\\x${hexOf(value)}` : String(value)
}

const fieldEscapes: Record<string, string> = {
  '\\': '\\\\',
  '\t': '\\t',
  '\n': '\\n',
  '\r': '\\r',
}

const escapedField = (text: string): string =>
  text.replace(/[\\\t\n\r]/g, (found) => fieldEscapes[found] ?? found)

const escaped = (text: string): string => text.replace(/["\\]/g, '\\$&')

const hexOf = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')
