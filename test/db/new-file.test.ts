import type { Database } from 'bun:sqlite'
import { afterEach, expect, test } from 'bun:test'
import { readdirSync, statSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { migrateSqlite } from '../../src/db/migrate.ts'
import { placeNewFile } from '../../src/db/new-file.ts'
import { connect } from '../../src/db/sqlite.ts'
import { closeAll, freshFile, opened } from './file.ts'

afterEach(closeAll)

function openRaw(file: string): Database {
  const raw = connect(file)
  opened.push(() => raw.close())
  return raw
}

const contentOf = (raw: Database) => ({
  schema: raw.query('select type, name, tbl_name, sql from sqlite_master order by name').values(),
  steps: raw.query('select * from migrations order by tag').values(),
  owner: raw.query('PRAGMA application_id').values(),
  page: raw.query('PRAGMA page_size').values(),
  vacuum: raw.query('PRAGMA auto_vacuum').values(),
  encoding: raw.query('PRAGMA encoding').values(),
})

test('a new file is what its steps make one by one, and lacks none', () => {
  const file = freshFile()
  const steps = placeNewFile(file, 'new', 5)
  const placed = openRaw(file)
  const stepwise = openRaw(freshFile())
  expect(migrateSqlite(stepwise, 5, () => {})).toEqual(steps ?? [])
  expect(contentOf(placed)).toEqual(contentOf(stepwise))
  expect(migrateSqlite(placed, 6, () => {})).toEqual([])
  expect(placed.query('PRAGMA journal_mode').values()).toEqual([['wal']])
  expect(placed.query('PRAGMA integrity_check').values()).toEqual([['ok']])
})

test('it is for its owner alone, and nothing is left beside it', () => {
  const file = freshFile()
  placeNewFile(file, 'new', 5)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(readdirSync(dirname(file)).filter((name) => name.startsWith(basename(file)))).toEqual([
    basename(file),
  ])
})

test('a file that is there stays as it is', async () => {
  const file = freshFile()
  await Bun.write(file, 'mine')
  expect(placeNewFile(file, 'new', 5)).toBeUndefined()
  expect(await Bun.file(file).text()).toBe('mine')
})

test('where it cannot be put, nothing is left: the steps are for whoever opens it', () => {
  const file = `${freshFile()}-none/counterfoil.db`
  expect(placeNewFile(file, 'new', 5)).toBeUndefined()
})
