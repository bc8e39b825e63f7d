/** Reads tables from a dump as SQL, from JSON or from CSV, and columns of their rows. */
import { type Decimal, parseDecimal } from '../../kernel/decimal.ts'
import {
  type ExactJson,
  isExactObject,
  NumberText,
  parseExactJson,
} from '../../kernel/exact-json.ts'
import type { ForeignTables } from '../../storage/db/files/foreign-tables.ts'
import { readCsv } from '../../verify/csv-records.ts'

/** A row: texts by column, null for an empty one; a column that its source lacks is not there. */
export type Row = ReadonlyMap<string, string | readonly string[] | null>

/** Rows by the name of their table. */
export type Tables = ReadonlyMap<string, readonly Row[]>

/** Columns by the name of their table. */
export type Columns = { readonly [table: string]: readonly string[] }

/**
 * Checks that no row lacks a column that limits: a limit that is there would be lost.
 * @throws Error that names the columns
 */
export function assertColumns(tables: Tables, needed: Columns): void {
  for (const [name, rows] of tables) {
    const missing = (needed[name] ?? []).filter((column) => !rows.every((row) => row.has(column)))
    if (missing.length === 0) continue
    throw new Error(`its ${name} lacks columns that limit: ${missing.join(', ')}. Export it whole`)
  }
}

/** `COPY public."Name" (a, b) FROM stdin;` of pg_dump. */
const copyLine = /^COPY (?:("[^"]+"|\w+)\.)?("[^"]+"|\w+) (?:\((.+)\))? ?FROM stdin;$/

export const isSqlDump = (text: string): boolean =>
  /^COPY .+ FROM stdin;$/m.test(text) || /^-- PostgreSQL database dump/m.test(text)

/**
 * The tables of a plain dump by `pg_dump`, of the only schema that has one of the wanted tables.
 * @throws Error for a dump that ends inside of a table, has another form, or has them twice
 */
export function readSqlDump(text: string, wanted: readonly string[], schema?: string): Tables {
  const schemas = new Map<string, Map<string, Row[]>>()
  const databases = new Databases()
  const lines = text.split('\n').map((line) => line.replace(/\r$/, ''))
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? ''
    // A text between quotes may hold lines that look like rows.
    if (line.startsWith('INSERT INTO ')) throw new Error('its rows are INSERTs: dump them as COPY')
    databases.read(line)
    if (!/^COPY .+ FROM stdin;$/.test(line)) continue
    const [place = 'public', name = '', ...columns] = copyColumns(line, at)
    const end = lines.indexOf('\\.', at)
    if (end === -1) throw new Error(`the dump ends inside of the table ${name}`)
    const block = lines.slice(at + 1, end)
    at = end
    if (!wanted.includes(name)) continue
    databases.addTable()
    const rows = block.map((one, i) => copyRow(one, columns, end - block.length + i))
    const tables = schemas.get(place) ?? new Map<string, Row[]>()
    if (databases.isOne() && tables.has(name)) throw new Error(`it has the table ${name} twice`)
    schemas.set(place, tables.set(name, rows))
  }
  databases.assertOne()
  return schemas.get(oneOf([...schemas.keys()], schema)) ?? new Map()
}

/** The databases of a dump, in which a user of one id is another person each. */
class Databases {
  #all = [{ name: 'the first', hasTables: false }]

  /** A header or a change of the database begins another one. */
  read(line: string): void {
    const to = /^\\c(?:onnect)? (.+)$/.exec(line)?.[1]
    if (to === undefined && !/^-- PostgreSQL database dump\s*$/.test(line)) return
    const name = to?.replace(/['"]/g, ' ').trim().split(/[\s=]/).at(-1)
    const last = this.#last()
    if (last?.hasTables === false) last.name = name ?? last.name
    else this.#all.push({ name: name ?? `number ${this.#all.length + 1}`, hasTables: false })
  }

  addTable(): void {
    const last = this.#last()
    if (last) last.hasTables = true
  }

  isOne = (): boolean => this.#withTables().length <= 1

  /** @throws Error that names all of several */
  assertOne(): void {
    if (this.isOne()) return
    const names = this.#withTables().map(({ name }) => name)
    throw new Error(`it has the tables of several databases (${names.join(', ')}): dump one`)
  }

  #last = () => this.#all.at(-1)
  #withTables = () => this.#all.filter(({ hasTables }) => hasTables)
}

/** The schema to read, the empty text for none. @throws Error that names all of several */
export function oneOf(schemas: readonly string[], wanted: string | undefined): string {
  if (wanted !== undefined || schemas.length <= 1) return wanted ?? schemas[0] ?? ''
  const names = schemas.toSorted().join(', ')
  throw new Error(`it has the tables in several schemas (${names}): choose one with --schema`)
}

/** The schema, the table and the columns of a line. @throws Error for one of another form */
function copyColumns(line: string, at: number): string[] {
  const [, schema = 'public', table, list = ''] = copyLine.exec(line) ?? []
  if (table === undefined) throw new Error(`line ${at + 1} has a name of another form`)
  return [schema, table, ...list.split(',')].map((name) => name.trim().replace(/^"|"$/g, ''))
}

function copyRow(line: string, columns: readonly string[], at: number): Row {
  const fields = line.split('\t')
  if (fields.length !== columns.length) {
    throw new Error(`line ${at + 1} has ${fields.length} of ${columns.length} columns`)
  }
  const value = (field: string) => (field === '\\N' ? null : unescapeCopy(field))
  return new Map(columns.map((column, i) => [column, value(fields[i] ?? '')]))
}

const escapes: Record<string, string> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f', v: '\v' }

const unescapeCopy = (field: string): string =>
  field.replace(/\\(.)/g, (_, char: string) => escapes[char] ?? char)

/** @throws Error for a text that is not a table, or of which rows may be lost */
export function readCsvTable(text: string): { header: string[]; rows: Row[] } {
  const [header = [], ...records] = readCsv(text)
  if (text.split('"').length % 2 === 0) throw new Error('a quote is not closed')
  if (new Set(header).size < header.length) throw new Error('two of its columns have one name')
  const rows = records.flatMap((record, at): Row[] => {
    if (record.length === 1 && record[0] === '') return []
    if (record.length !== header.length) {
      throw new Error(`record ${at + 2} has ${record.length} of ${header.length} columns`)
    }
    return [new Map(header.map((name, i) => [name, record[i] || null]))]
  })
  return { header, rows }
}

/** The rows of a database, whichever it is. */
export function rowsOf(tables: ForeignTables): Tables {
  const of = (row: string | Record<string, unknown>): Row => {
    if (typeof row === 'string') return rowsIn([parseExactJson(row)])[0] ?? new Map()
    const pairs = Object.entries(row)
    return new Map(pairs.map(([name, value]) => [name, value === null ? null : String(value)]))
  }
  return new Map([...tables].map(([name, rows]) => [name, rows.map(of)]))
}

/** The objects of a list as rows. @throws Error for something else */
export function rowsIn(list: ExactJson | undefined): Row[] {
  if (!Array.isArray(list)) throw new Error('it holds no list of objects')
  return list.map((one) => {
    if (!isExactObject(one)) throw new Error('it holds no list of objects')
    const pairs = Object.entries(one)
    return new Map(pairs.map(([name, value]) => [name, value === null ? null : fieldOf(value)]))
  })
}

function fieldOf(value: ExactJson): string | readonly string[] {
  if (Array.isArray(value)) return value.map((one) => String(fieldOf(one)))
  if (value instanceof NumberText) return value.text
  return typeof value === 'object' ? toText(value) : String(value)
}

/** JSON again, with its numbers as they were. */
function toText(value: ExactJson): string {
  if (value instanceof NumberText) return value.text
  if (Array.isArray(value)) return `[${value.map(toText).join(',')}]`
  if (!isExactObject(value)) return JSON.stringify(value)
  const pairs = Object.entries(value).map(([name, one]) => `${JSON.stringify(name)}:${toText(one)}`)
  return `{${pairs.join(',')}}`
}

export function textOf(row: Row, name: string): string | undefined {
  const value = row.get(name)
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** A list: of JSON, `{a,"b c"}` of PostgreSQL, or JSON in a text. @throws Error for others */
export function listOf(row: Row, name: string): string[] {
  const value = row.get(name) ?? ''
  if (typeof value !== 'string') return [...value]
  if (value.startsWith('[')) {
    const list = jsonIn(row, name)
    return Array.isArray(list) ? list.map((one) => String(fieldOf(one))) : []
  }
  const inner = /^\{(.*)\}$/s.exec(value)?.[1]
  if (inner === undefined && value !== '') throw new Error(`${name} of a row is not a list`)
  const items = (inner ?? '').match(/"(?:[^"\\]|\\.)*"|[^,]+/g) ?? []
  return items.map((item) =>
    item.startsWith('"') ? item.slice(1, -1).replace(/\\(.)/g, '$1') : item,
  )
}

/** The JSON in a column; null for an empty one. @throws Error without its text */
export function jsonIn(row: Row, name: string): ExactJson {
  const text = textOf(row, name)
  if (text === undefined) return null
  try {
    return parseExactJson(text)
  } catch {
    throw new Error(`${name} of a row is not JSON`)
  }
}

/** False for an empty column. @throws Error for a word that is neither */
export function isTrue(row: Row, name: string): boolean {
  const text = textOf(row, name) ?? ''
  if (/^(t|true|1)$/i.test(text)) return true
  if (/^(f|false|0|)$/i.test(text)) return false
  throw new Error(`${name} of a row is neither true nor false`)
}

/** A time; one without a zone is UTC. @throws Error for a text that is none */
export function timeOf(row: Row, name: string): number | undefined {
  const text = textOf(row, name)
  if (text === undefined) return undefined
  const hasZone = /(Z|[+-]\d\d(:?\d\d)?)$/.test(text)
  const iso = text.replace(' ', 'T').replace(/([+-]\d\d)$/, '$1:00')
  const at = Date.parse(hasZone ? iso : `${iso}Z`)
  if (Number.isNaN(at)) throw new Error(`${name} of a row is not a time`)
  return at
}

/** @throws Error for something else than a decimal */
export function amountIn(row: Row, name: string): Decimal | undefined {
  const text = textOf(row, name)
  const amount = text === undefined ? undefined : parseDecimal(text)
  if (text !== undefined && !amount) throw new Error(`${name} of a row is not an amount`)
  return amount
}

/**
 * A limit as a whole number, rounded down, at most `most`; 0 for one that allows nothing.
 * @throws Error for something else than a decimal
 */
export function limitIn(row: Row, name: string, most: number): number | undefined {
  const limit = amountIn(row, name)
  if (!limit) return undefined
  const { digits, scale } = limit
  const whole = scale > 0 ? digits / 10n ** BigInt(scale) : digits * 10n ** BigInt(-scale)
  return Number(whole < 0n ? 0n : whole > BigInt(most) ? BigInt(most) : whole)
}
