import { Database } from 'bun:sqlite'
import { afterEach, describe, expect, test } from 'bun:test'
import {
  chmodSync,
  closeSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { openDatabase } from '../../../src/app/open-database.ts'
import { loadConfig } from '../../../src/config/config.ts'
import { connect } from '../../../src/storage/db/engine/connection.ts'
import { newAccount } from '../../ledger/office.ts'
import { fault, promise } from '../../support/promise.ts'
import { outcomeOf, rejectionOf } from '../../support/rejection.ts'
import { closeAll, freshFile, opened, openFile } from './file.ts'

afterEach(closeAll)

/** Opens a database as the commands do. */
async function open(file: string) {
  const inputs = { env: {}, filePath: 'test.toml', readFile: () => undefined }
  const loaded = loadConfig({ ...inputs, flags: {}, fileText: `database_url = "sqlite:${file}"` })
  if ('problems' in loaded) throw new Error(loaded.problems.join('\n'))
  const { db } = await openDatabase(loaded.config, { mayCreate: true })
  await db.close()
}

describe('a database of another program', () => {
  promise`K8`
  fault`16: the header of the database is overwritten → no start, and the file stays as it is
    [faults header]`
  test('is refused and stays as it was: its bytes, its mode, its neighbours', async () => {
    const file = freshFile()
    const raw = new Database(file)
    raw.run('create table photos (id integer)')
    raw.close()
    chmodSync(file, 0o644)
    const before = readFileSync(file)
    expect(await outcomeOf(open(file))).toThrow('a database of another program')
    expect(readFileSync(file)).toEqual(before)
    expect(statSync(file).mode & 0o777).toBe(0o644)
    expect(readdirSync(dirname(file))).toEqual(['counterfoil.db'])
  })
})

describe('our own database', () => {
  test('opens again, also with its first steps still in the log beside it', async () => {
    const file = freshFile()
    // Held open, so that nothing is moved from the log into the file.
    openFile(file)
    await open(file)
    await open(file)
  })

  promise`K1 H: SQLite is opened with the settings that keep what was acknowledged.`
  fault`9: the power fails: what was not synced is lost → what was acknowledged is there; every
    beginning of the log is a whole ledger [crash, faults cut log]`
  test('every connection syncs each commit, keeps references, and waits briefly', () => {
    const file = freshFile()
    openFile(file)
    const raw = connect(file)
    opened.push(() => raw.close())
    const told = (name: string) => raw.query(`PRAGMA ${name}`).values()[0]?.[0]
    expect(told('journal_mode')).toBe('wal')
    expect([told('synchronous'), told('foreign_keys'), told('secure_delete')]).toEqual([2n, 1n, 1n])
    expect(Number(told('busy_timeout'))).toBeWithin(1, 101)
    expect([told('application_id') === 0n, told('quick_check')]).toEqual([false, 'ok'])
  })
})

describe('a damaged page', () => {
  promise`K8`
  fault`15`
  test('stops what would move money over it, and nothing is written', async () => {
    const file = freshFile()
    const made = openFile(file)
    const account = newAccount()
    await made.grant(account, 100n)
    const key = await made.key({ account })
    const told = (sql: string) => Number(made.raw.query(sql).values()[0]?.[0])
    const page = told("select rootpage from sqlite_master where name = 'accounts'")
    const bytes = told('pragma page_size')
    made.raw.run('pragma wal_checkpoint(truncate)')
    await opened.pop()?.()
    const damaged = readFileSync(file).fill(0x5a, (page - 1) * bytes, page * bytes)
    writeFileSync(file, damaged)

    const office = openFile(file)
    const corrupt = { code: 'SQLITE_CORRUPT' }
    expect(await rejectionOf(office.grant(account, 1n))).toMatchObject(corrupt)
    expect(await rejectionOf(office.hold(key, 1n))).toMatchObject(corrupt)
    expect(readFileSync(file).equals(damaged)).toBe(true)
  })
})

describe('an empty file', () => {
  test('that another process is just making is waited for', async () => {
    const file = freshFile()
    closeSync(openSync(file, 'w'))
    const opening = open(file)
    await Bun.sleep(120)
    openFile(file)
    await opening
  })

  promise`K9`
  test('that stays empty is taken for a lost database', async () => {
    const file = freshFile()
    writeFileSync(file, '')
    expect(await outcomeOf(open(file))).toThrow('is empty')
  }, 10_000)
})
