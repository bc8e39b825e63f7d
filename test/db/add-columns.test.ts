import { Database } from 'bun:sqlite'
import { afterAll, beforeEach, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { addColumns, hasAdded } from '../../src/storage/db/add-columns.ts'

const folder = mkdtempSync(join(tmpdir(), 'counterfoil-columns-'))
afterAll(() => rmSync(folder, { recursive: true }))

const table =
  'CREATE TABLE `a` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`n` integer NOT NULL,\n\t' +
  'CONSTRAINT "small" CHECK("a"."n" < 9)\n) STRICT'
const adding = ['ALTER TABLE `a` ADD `m` integer;', 'ALTER TABLE `a` ADD `b` blob']

let file: string
let raw: Database
beforeEach(() => {
  file = join(folder, `${crypto.randomUUID()}.db`)
  raw = new Database(file)
  raw.run('PRAGMA journal_mode = WAL')
  raw.run(table)
  raw.run("INSERT INTO a VALUES ('one', 1)")
})

const textOf = (of: Database) => of.query('SELECT sql FROM sqlite_schema').values()

test('The text of a table is what ALTER TABLE makes of it.', () => {
  const altered = new Database(':memory:')
  for (const statement of [table, ...adding]) altered.run(statement)
  addColumns(file, adding)
  expect(textOf(raw)).toEqual(textOf(altered))
  expect(raw.query('PRAGMA integrity_check').values()).toEqual([['ok']])
})

test('A connection that was open before reads and writes the new columns.', () => {
  const select = raw.query('SELECT * FROM a')
  expect(select.all()).toEqual([{ id: 'one', n: 1 }])
  addColumns(file, adding)
  expect(adding.map((statement) => hasAdded(raw, statement))).toEqual([true, true])
  raw.run("INSERT INTO a VALUES ('two', 2, 3, x'04')")
  expect(raw.query('SELECT id, m FROM a').values()).toEqual([
    ['one', null],
    ['two', 3],
  ])
  expect(() => raw.run("INSERT INTO a VALUES ('six', 9, 0, null)")).toThrow('CHECK')
  expect(() => raw.run("INSERT INTO a VALUES ('ten', 1, 'text', null)")).toThrow('store TEXT')
})

test('Columns that are there, and tables that are not, are passed over.', () => {
  addColumns(file, adding.slice(0, 1))
  addColumns(file, [...adding, 'ALTER TABLE `later` ADD `x` text'])
  expect(raw.query("SELECT name FROM pragma_table_info('a')").values().flat()).toEqual([
    ...['id', 'n', 'm', 'b'],
  ])
})

test('Any other statement is left to the migration.', () => {
  const before = textOf(raw)
  addColumns(file, ['ALTER TABLE `a` ADD `x` integer DEFAULT 0 NOT NULL', 'DROP TABLE `a`'])
  expect(textOf(raw)).toEqual(before)
  expect(hasAdded(raw, 'DROP TABLE `a`')).toBe(false)
})

test('A file that cannot be opened is left to the migration, which says why.', () => {
  const missing = join(folder, 'missing', 'file.db')
  addColumns(missing, adding)
  expect(existsSync(missing)).toBe(false)
})
