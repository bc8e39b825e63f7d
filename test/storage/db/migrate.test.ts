import type { Database } from 'bun:sqlite'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { sql } from 'drizzle-orm'
import { backUp } from '../../../src/app/open-database.ts'
import { connect } from '../../../src/storage/db/engine/connection.ts'
import type { Db } from '../../../src/storage/db/engine/db.ts'
import type { PgDirect } from '../../../src/storage/db/engine/pg-drizzle.ts'
import {
  migratePostgres,
  migrateSqlite,
  pendingOf,
  schemaVersion,
  sqliteState,
} from '../../../src/storage/db/schema/migrate.ts'
import { fault, promise } from '../../support/promise.ts'
import { outcomeOf } from '../../support/rejection.ts'
import { engines, freshDb } from '../../support/world.ts'
import { closeAll, freshFile, opened, openFile } from './file.ts'
import { schemaWith } from './later-steps.ts'

const applicationId = 0x43464c31
afterEach(closeAll)

function openRaw(file: string): Database {
  const raw = connect(file)
  opened.push(() => raw.close())
  return raw
}

const tablesOf = (raw: Database): string[] =>
  raw
    .query("select name from sqlite_master where type = 'table' order by name")
    .values()
    .flat() as string[]

describe('the steps a database lacks', () => {
  const sha = (text: string) => new Bun.CryptoHasher('sha256').update(text).digest('hex')
  const all = [
    { tag: '0000_a', hash: sha('one') },
    { tag: '0001_b', hash: sha('two;\nthree') },
  ]

  test('are those it does not know, in order', () => {
    expect(pendingOf(all, [])).toEqual(all)
    expect(pendingOf(all, [{ tag: '0000_a', hash: sha('one') }])).toEqual(all.slice(1))
  })

  test('are none of a database that is newer than this build: it is refused', () => {
    const applied = [{ tag: '0002_c', hash: '' }]
    expect(() => pendingOf(all, applied)).toThrow('run a newer build')
  })

  test('are none of a database whose step was edited since: it is refused', () => {
    const applied = [{ tag: '0001_b', hash: sha('two;\nTHREE') }]
    expect(() => pendingOf(all, applied)).toThrow('0001_b changed after it was applied')
  })
})

describe('a SQLite file', () => {
  test('is brought up once; the second time there is nothing to do and nothing to back up', () => {
    const raw = openRaw(freshFile())
    let backups = 0
    const steps = migrateSqlite(raw, 5, () => void backups++)
    expect(steps.length).toBe(schemaVersion('sqlite'))
    const before = raw.query('select * from migrations').all()
    expect(migrateSqlite(raw, 6, () => void backups++)).toEqual([])
    expect(raw.query('select * from migrations').all()).toEqual(before)
    expect(backups).toBe(0)
    expect(raw.query('PRAGMA foreign_keys').values()).toEqual([[1n]])
    expect(raw.query('PRAGMA application_id').values()).toEqual([[BigInt(applicationId)]])
  })

  promise`K1`
  test('A SQLite file has only STRICT tables.', () => {
    const raw = openRaw(freshFile())
    migrateSqlite(raw, 0, () => {})
    const loose = raw.query(
      "select name from pragma_table_list where schema = 'main' and type = 'table' and strict = 0",
    )
    expect(
      loose
        .values()
        .flat()
        .filter((name) => !String(name).startsWith('sqlite_')),
    ).toEqual([])
  })

  test('A later step is taken once, behind a copy of the file as it was.', () => {
    const file = freshFile()
    const raw = openRaw(file)
    migrateSqlite(raw, 0, () => {})
    raw.run("insert into facts values ('kept', 'as it was')")
    const later = schemaWith('sqlite', {
      '0001_later': ['ALTER TABLE `facts` ADD `later` integer', 'CREATE INDEX l ON facts (later)'],
      '0002_latest': ["UPDATE `facts` SET `later` = 7 WHERE `name` = 'kept'"],
    })
    const take = () => migrateSqlite(raw, 5, () => backUp(file, 5), later)
    expect(take()).toEqual(['0001_later', '0002_latest'])
    expect(take()).toEqual([])
    const rowsOf = (of: Database) => of.query("select * from facts where name = 'kept'").all()
    expect(rowsOf(raw)).toEqual([{ name: 'kept', value: 'as it was', later: 7n }])
    const copies = readdirSync(dirname(file)).filter((name) => name.includes('.before-'))
    expect(copies).toHaveLength(1)
    const copy = openRaw(join(dirname(file), copies[0] ?? ''))
    expect(rowsOf(copy)).toEqual([{ name: 'kept', value: 'as it was' }])
    expect(copy.query('PRAGMA integrity_check').values()).toEqual([['ok']])
  })

  test('A later step that fails leaves the steps before it, and none of its own.', () => {
    const raw = openRaw(freshFile())
    migrateSqlite(raw, 0, () => {})
    const later = schemaWith('sqlite', {
      '0001_later': ['ALTER TABLE `facts` ADD `later` integer'],
      '0002_wrong': ['ALTER TABLE `facts` ADD `wrong` integer', 'DROP TABLE `nowhere`'],
    })
    expect(() => migrateSqlite(raw, 5, () => {}, later)).toThrow('nowhere')
    const columns = raw.query("select name from pragma_table_info('facts')").values().flat()
    expect(columns).toEqual(['name', 'value', 'later'])
    const taken = raw.query('select tag from migrations where applied_at = 5').values().flat()
    expect(taken).toEqual(['0001_later'])
  })

  promise`K13`
  test('newer than this build is refused and left alone', () => {
    const raw = openRaw(freshFile())
    migrateSqlite(raw, 0, () => {})
    raw.run("insert into migrations values ('9999_later', 'x', 0)")
    raw.run("update schema_needs set tag = '9999_later'")
    expect(() => migrateSqlite(raw, 1, () => {})).toThrow('run a newer build')
  })

  test('to which a newer build only added is opened as it is', () => {
    const raw = openRaw(freshFile())
    migrateSqlite(raw, 0, () => {})
    raw.run("insert into migrations values ('9999_later', 'x', 0)")
    const before = raw.serialize()
    expect(migrateSqlite(raw, 1, () => {})).toEqual([])
    expect(raw.serialize()).toEqual(before)
    expect(sqliteState(raw)).toMatchObject({ pending: [], unknown: ['9999_later'] })
  })

  test('with an edited step is refused', () => {
    const raw = openRaw(freshFile())
    migrateSqlite(raw, 0, () => {})
    raw.run("update migrations set hash = 'x'")
    expect(() => migrateSqlite(raw, 1, () => {})).toThrow('changed after it was applied')
  })

  test.each([
    ['without a stamp', 0],
    ['of another program', 42],
  ])('%s with tables in it is refused and left alone', (_, stamp) => {
    const raw = openRaw(freshFile())
    raw.run(`PRAGMA application_id = ${stamp}`)
    raw.run('create table recipes (text text)')
    expect(() => migrateSqlite(raw, 0, () => {})).toThrow('a database of another program')
    expect(tablesOf(raw)).toEqual(['recipes'])
    expect(Number(raw.query('PRAGMA application_id').values()[0]?.[0])).toBe(stamp)
  })

  promise`K8 H: A damaged database is refused and left as it is.`
  test('that is not a database at all is refused and left alone', async () => {
    const file = freshFile()
    const text = 'Dear diary, today nothing happened. '.repeat(40)
    await Bun.write(file, text)
    expect(() => openFile(file)).toThrow('not a database')
    expect(await Bun.file(file).text()).toBe(text)
  })

  promise`K13`
  test('keeps its old schema when a statement in the middle fails', () => {
    const raw = openRaw(freshFile())
    raw.run(`PRAGMA application_id = ${applicationId}`)
    // In the way of a later statement of the first step.
    raw.run('create table transfers (mine text)')
    expect(() => migrateSqlite(raw, 0, () => {})).toThrow('transfers')
    expect(tablesOf(raw)).toEqual(['migrations', 'transfers'])
    expect(raw.query('select * from migrations').all()).toEqual([])
    raw.run('drop table transfers')
    expect(migrateSqlite(raw, 0, () => {}).length).toBe(schemaVersion('sqlite'))
  })

  promise`K13 C: A migration happens whole or not at all, and a newer database is refused.`
  fault`6: killed in the middle of a migration → the old schema or the new one, never between
    [faults migration]`
  test.each([1, 3, 9, 20])('survives a kill at statement %d of the first start', async (count) => {
    const file = freshFile()
    expect(await migrateIn(file, count)).toBe('SIGKILL')
    const raw = openRaw(file)
    expect(tablesOf(raw).filter((name) => name !== 'migrations')).toEqual([])
    expect(migrateSqlite(raw, 0, () => {}).length).toBe(schemaVersion('sqlite'))
  })

  test('is migrated once by four processes that start at once', async () => {
    const file = freshFile()
    const ends = await Promise.all([1, 2, 3, 4].map(() => migrateIn(file)))
    expect(ends).toEqual(['fine', 'fine', 'fine', 'fine'])
    const raw = openRaw(file)
    expect(raw.query('select tag from migrations').all().length).toBe(schemaVersion('sqlite'))
  }, 20_000)
})

describe.each(engines.filter((engine) => engine !== 'sqlite'))('a database on %s', (engine) => {
  let db: Db & { drizzle: PgDirect }
  let close: () => Promise<void>
  beforeAll(async () => {
    const fresh = await freshDb(engine)
    db = fresh.db as typeof db
    close = async () => {
      await db.close()
      await fresh.drop()
    }
  }, 30_000)
  afterAll(() => close())

  const run = (text: string) => db.drizzle.execute(sql.raw(text))
  const tables = async (): Promise<unknown[]> => {
    const text = "select tablename from pg_tables where schemaname = 'public' order by tablename"
    const result = (await run(text)) as { rows?: { tablename: string }[] }
    const found = result.rows ?? (result as unknown as { tablename: string }[])
    return [...found].map(({ tablename }) => tablename)
  }
  const startAnew = async () => {
    await run('drop schema public cascade')
    await run('create schema public')
  }

  test('is brought up once, also by three nodes that start at once', async () => {
    await startAnew()
    const steps = await Promise.all([1, 2, 3].map((at) => migratePostgres(db.drizzle, at)))
    expect(steps.flat().length).toBe(schemaVersion('postgres'))
    expect(await migratePostgres(db.drizzle, 9)).toEqual([])
  })

  promise`K13`
  test('keeps its old schema when a statement in the middle fails', async () => {
    await startAnew()
    await run('create table transfers (mine text)')
    expect(await outcomeOf(migratePostgres(db.drizzle, 0))).toThrow()
    expect(await tables()).toEqual(['transfers'])
    await run('drop table transfers')
    expect((await migratePostgres(db.drizzle, 0)).length).toBe(schemaVersion('postgres'))
  })

  test('A later step that fails leaves the steps before it, and none of its own.', async () => {
    await startAnew()
    await migratePostgres(db.drizzle, 0)
    const later = schemaWith('pg', {
      '0001_later': ['ALTER TABLE "facts" ADD COLUMN "later" bigint'],
      '0002_wrong': ['CREATE TABLE "wrong" ("id" text)', 'DROP TABLE "nowhere"'],
    })
    const steps = migratePostgres(db.drizzle, 5, { lockMs: 3000, tries: 1 }, later)
    expect(await outcomeOf(steps)).toThrow()
    expect(await tables()).not.toContain('wrong')
    await run('select later from facts')
    const taken = (await run('select tag from migrations where applied_at = 5')) as unknown
    expect(JSON.stringify(taken)).toContain('0001_later')
    expect(JSON.stringify(taken)).not.toContain('0002_wrong')
  })

  test('newer than this build is refused, and one with an edited step', async () => {
    await startAnew()
    await migratePostgres(db.drizzle, 0)
    await run("insert into migrations values ('9999_later', 'x', 0)")
    await run("update schema_needs set tag = '9999_later'")
    expect(await outcomeOf(migratePostgres(db.drizzle, 1))).toThrow('run a newer build')
    await run("delete from migrations where tag = '9999_later'")
    await run("update migrations set hash = 'x'")
    expect(await outcomeOf(migratePostgres(db.drizzle, 1))).toThrow('changed after it was applied')
  })
})

/** Migrates in a process of its own, which kills itself before statement `dieAt`. */
async function migrateIn(file: string, dieAt = 0): Promise<string> {
  const src = `${import.meta.dir}/../../../src/storage/db`
  const script = `
    import { migrateSqlite } from '${src}/schema/migrate.ts'
    import { connect } from '${src}/engine/connection.ts'
    const raw = connect(${JSON.stringify(file)})
    const run = raw.run.bind(raw)
    let count = 0
    raw.run = (...args) => {
      if (/^create /i.test(args[0]) && ++count === ${dieAt} + 1 && ${dieAt} > 0) process.kill(process.pid, 'SIGKILL')
      return run(...args)
    }
    migrateSqlite(raw, 0, () => {})
    raw.close()`
  const child = Bun.spawn([process.execPath, '-e', script], { stdout: 'ignore', stderr: 'pipe' })
  const [code, said] = await Promise.all([child.exited, new Response(child.stderr).text()])
  return String(child.signalCode ?? (code === 0 ? 'fine' : said))
}
