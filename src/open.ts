import { chmodSync, closeSync, existsSync, mkdirSync, openSync, readSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { accountStore } from './accounts/store.ts'
import type { Config } from './config.ts'
import type { Db } from './db/db.ts'
import { settleFact } from './db/facts.ts'
import { migratePostgres, migrateSqlite } from './db/migrate.ts'
import { openPostgres } from './db/postgres.ts'
import { connect, openSqlite } from './db/sqlite.ts'
import { systemClock } from './kernel/clock.ts'
import { makeIds } from './kernel/ids.ts'
import { systemRandom } from './kernel/random.ts'
import { keyStore } from './keys/store.ts'
import { openLedger } from './ledger/store.ts'
import { openSigner, type Signer } from './signer/signer.ts'

/** The database of a configuration, at this build's schema. */
export type Opened = { db: Db; migrated: string[] }

/** Opens the database, makes its folder (0700) when it is not there, and brings it up to date. */
export async function openDatabase(config: Config): Promise<Opened> {
  const url = config.database_url
  if (/^postgres(ql)?:/.test(url)) {
    const db = openPostgres(url)
    return { db, migrated: await migratePostgres(db.drizzle, systemClock.now()) }
  }
  const file = url.slice('sqlite:'.length)
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  assertWhole(file)
  const db = openSqlite(file)
  chmodSync(file, 0o600)
  const now = systemClock.now()
  const migrated = migrateSqlite(db.raw, now, () => backUp(file, now))
  return { db, migrated }
}

/**
 * A database that was lost must not be taken for one that never was: a new, empty ledger would
 * look fine, and so would one that SQLite patches together from the log beside a broken file.
 * @throws Error when the file is empty or no database, or gone while its log is there.
 */
function assertWhole(file: string): void {
  const wal = `${file}-wal`
  if (!existsSync(file)) {
    if (!existsSync(wal)) return
    throw new Error(`${file} is gone, but ${wal} is there; put the database back`)
  }
  const head = Buffer.alloc(sqliteMagic.length)
  const opened = openSync(file, 'r')
  const size = readSync(opened, head)
  closeSync(opened)
  if (size === 0) {
    throw new Error(`${file} is empty; put the database back, or delete the file to begin anew`)
  }
  if (head.toString('latin1') === sqliteMagic) return
  throw new Error(`${file} is no database; put the right file back`)
}

/** How every SQLite file begins. */
const sqliteMagic = 'SQLite format 3\0'

/** A copy of the whole database beside it, before its schema changes. */
function backUp(file: string, now: number): void {
  const copy = `${file}.before-${new Date(now).toISOString().replaceAll(':', '')}`
  const source = connect(file)
  source.run('VACUUM INTO ?', [copy])
  source.close()
  chmodSync(copy, 0o600)
}

/** The receipt signer of a data folder, made at the first start. */
export function openDataSigner(config: Config): Signer {
  mkdirSync(config.data, { recursive: true, mode: 0o700 })
  return openSigner({ keyFile: join(config.data, 'signer.key'), random: systemRandom() })
}

/**
 * The database remembers its signer: a node with another key file would issue receipts that
 * nobody trusts.
 * @throws Error naming both addresses.
 */
export async function assertSigner(db: Db, signer: Signer): Promise<void> {
  const known = await settleFact(db, 'signer.address', signer.address)
  if (known === signer.address) return
  throw new Error(
    `this database was signed by ${known}, but the key file is of ${signer.address}; ` +
      'put the right signer.key into the data folder',
  )
}

/** What commands beside a running server need to change keys and money. */
export async function openOffice(config: Config) {
  const { db } = await openDatabase(config)
  const clock = systemClock
  const random = systemRandom()
  return {
    db,
    clock,
    random,
    ids: makeIds(clock, random),
    ledger: openLedger(db, clock),
    keys: keyStore(db, clock),
    accounts: accountStore(db),
    close: () => db.close(),
  }
}
