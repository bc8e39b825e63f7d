/** Opens the database that the configuration names, whole and at this build's schema. */
import { chmodSync, closeSync, existsSync, openSync, readSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { Config } from '../config/config.ts'
import { ensureFolder, WrongSetting } from '../config/ensure-folder.ts'
import { systemClock } from '../kernel/clock.ts'
import { systemRandom } from '../kernel/random.ts'
import { connect } from '../storage/db/engine/connection.ts'
import type { Db } from '../storage/db/engine/db.ts'
import { DatabaseAway, openingFault } from '../storage/db/engine/opening-fault.ts'
import type { PgDirect } from '../storage/db/engine/pg-drizzle.ts'
import { openSqlite } from '../storage/db/engine/sqlite.ts'
import {
  type CopiedMarker,
  readCopiedMarker,
  removeCopiedMarker,
} from '../storage/db/files/copied-marker.ts'
import { lockServer, type ServerLock } from '../storage/db/files/lock.ts'
import { placeNewFile } from '../storage/db/files/new-file.ts'
import {
  assertOurs,
  ForeignSchema,
  type MigrationState,
  migratePostgres,
  migrateSqlite,
  postgresState,
  sqliteState,
} from '../storage/db/schema/migrate.ts'
import { assertFileIsThere, missingDatabase } from './missing-database.ts'

/** The database of a configuration, at this build's schema. */
export type OpenDatabase = {
  db: Db
  migrated: string[]
  /** The mark of `db copy` that `evenIfMoved` took away. */
  moved?: CopiedMarker | undefined
}

type OpenOptions = {
  /** The server's lock, which then also covers the file of an embedded database. */
  lock?: ServerLock | undefined
  /** Opens a database that was copied elsewhere, and takes its mark away. */
  evenIfMoved?: boolean | undefined
  /** Makes a database that is not there: only for commands that set up a service. */
  mayCreate?: boolean | undefined
}

/**
 * Opens the database and brings it up to date; with `mayCreate` it makes what is not there, the
 * folder (0700) too.
 * @throws WrongSetting without a database, or when `db copy` has copied it elsewhere.
 * @throws Error while another server has its file.
 */
export async function openDatabase(
  config: Config,
  opening: OpenOptions = {},
): Promise<OpenDatabase> {
  const url = config.database_url
  if (/^postgres(ql)?:/.test(url)) {
    const db = await openPostgres(url, config.database_connections)
    try {
      if (!opening.mayCreate) await assertTables(db.drizzle, config)
      return { db, migrated: await migratePostgres(db.drizzle, systemClock.now()) }
    } catch (error) {
      await db.close()
      throw error instanceof WrongSetting ? error : openingFault(error, url)
    }
  }
  const file = url.slice('sqlite:'.length)
  if (opening.mayCreate) ensureDatabaseFolder(config)
  else {
    if (isBelowFile(file)) ensureDatabaseFolder(config)
    assertFileIsThere(config)
  }
  await assertWhole(file)
  const now = systemClock.now()
  const name = Buffer.from(systemRandom().bytes(8)).toString('hex')
  const placed = (opening.mayCreate && placeNewFile(file, name, now)) || []
  const { lock, evenIfMoved } = opening
  lock?.holdFile(file)
  const db = openSqlite(file)
  // SQLite may have created the file just now: only then can it be locked.
  lock?.holdFile(file)
  const moved = readCopiedMarker(db.raw)
  if (moved && !evenIfMoved) {
    await db.close()
    throw goesOnAt(moved, file)
  }
  if (moved) removeCopiedMarker(db.raw)
  chmodSync(file, 0o600)
  const migrated = migrateSqlite(db.raw, now, () => backUp(file, now))
  return { db, migrated: [...placed, ...migrated], moved }
}

/** @throws WrongSetting for a PostgreSQL database in which no service was ever set up */
async function assertTables(pg: PgDirect, config: Config): Promise<void> {
  const { applied } = await postgresState(pg)
  if (applied.length === 0) throw missingDatabase(config)
}

const goesOnAt = ({ to, at }: CopiedMarker, file: string): WrongSetting =>
  new WrongSetting(
    `${resolve(file)} was copied to ${to} at ${at} and goes on there; set database_url to it. ` +
      'Two histories of one log cannot both be kept: only if the copy is never used, go on here ' +
      'with: counterfoil serve --really',
  )

/** Whether there is a file in the place of a folder above it, so that no folder can be made. */
function isBelowFile(file: string): boolean {
  const folder = dirname(resolve(file))
  if (!existsSync(folder)) return folder !== dirname(folder) && isBelowFile(folder)
  return !statSync(folder).isDirectory()
}

/** Makes the folder of an embedded database, which is the data folder by default. */
export function ensureDatabaseFolder({ data, database_url: url }: Config): void {
  const folder = dirname(url.slice('sqlite:'.length))
  ensureFolder(folder, resolve(folder) === resolve(data) ? 'data' : 'database_url')
}

/** Loaded by those who use it: Bun's client and its dialect are a good part of a start. */
async function openPostgres(url: string, connections?: number) {
  const postgres = await import('../storage/db/engine/postgres.ts')
  return postgres.openPostgres(url, connections)
}

/**
 * Finds out within two seconds that a PostgreSQL server is away; to open it can take ten.
 * @throws DatabaseAway
 */
export async function assertThere({ database_url: url }: Config): Promise<void> {
  if (!/^postgres(ql)?:/.test(url)) return
  const { probeServer } = await import('../storage/db/engine/server-probe.ts')
  const fault = openingFault(await probeServer(url), url)
  if (fault instanceof DatabaseAway) throw fault
}

/**
 * Makes sure that there is a database, whichever build it is of; changes nothing.
 * @throws WrongSetting without one
 */
export async function assertDatabase(config: Config): Promise<void> {
  assertFileIsThere(config)
  const state = await readSchemaState(config).catch((error: unknown) => {
    if (error instanceof ForeignSchema) return undefined
    throw error
  })
  if (state?.applied.length === 0) throw missingDatabase(config)
}

/** How far the schema of a database is; undefined where there is none. Changes nothing. */
export async function readSchemaState(config: Config): Promise<MigrationState | undefined> {
  const url = config.database_url
  if (/^postgres(ql)?:/.test(url)) {
    const db = await openPostgres(url)
    try {
      return await postgresState(db.drizzle)
    } catch (error) {
      throw openingFault(error, url)
    } finally {
      await db.close()
    }
  }
  const file = url.slice('sqlite:'.length)
  await assertWhole(file)
  if (!existsSync(file)) return undefined
  const raw = connect(file, { readonly: true })
  try {
    return sqliteState(raw)
  } finally {
    raw.close()
  }
}

/**
 * A database that was lost must not be taken for one that never was: a new, empty ledger would
 * look fine, and so would one that SQLite patches together from the log beside a broken file.
 * Looks at the bytes only: a database of another program stays unchanged.
 * @throws Error when the file is empty, no database or not ours, or gone while its log is there.
 */
export async function assertWhole(file: string): Promise<void> {
  const wal = `${file}-wal`
  if (!existsSync(file)) {
    if (!existsSync(wal)) return
    throw new Error(`${file} is gone, but ${wal} is there; put the database back`)
  }
  // A file that another process is making right now is empty for a moment.
  let head = readHead(file)
  for (let waited = 0; head.length === 0 && waited < madeWithinMs; waited += 50) {
    await Bun.sleep(50)
    head = readHead(file)
  }
  if (head.length === 0) {
    throw new Error(
      `${file} is empty; put the database back, or delete the file to start with a new one`,
    )
  }
  if (head.length < headBytes || head.toString('latin1', 0, sqliteMagic.length) !== sqliteMagic) {
    throw new Error(`${file} is not a database; put the right file back`)
  }
  assertOurs(head.readUInt32BE(68), head.readUInt32BE(40) === 0)
}

/** How every SQLite file begins; its header holds the schema's count of changes and its owner. */
const sqliteMagic = 'SQLite format 3\0'
const headBytes = 100
/** How long a first start may take from making the file to writing into it, in ms. */
const madeWithinMs = 3000

/** The header of a file; shorter where the file is. */
function readHead(file: string): Buffer {
  const head = Buffer.alloc(headBytes)
  const opened = openSync(file, 'r')
  try {
    return head.subarray(0, readSync(opened, head))
  } finally {
    closeSync(opened)
  }
}

/** A copy of the whole database beside it, before its schema changes. */
export function backUp(file: string, now: number): void {
  const copy = `${file}.before-${new Date(now).toISOString().replaceAll(':', '')}`
  const source = connect(file)
  source.run('VACUUM INTO ?', [copy])
  source.close()
  chmodSync(copy, 0o600)
}

/**
 * Keeps every other server and command of this kind away; undefined where PostgreSQL does.
 * @throws Error while a server runs on the data folder.
 */
export function lockDatabase(config: Config): ServerLock | undefined {
  if (!config.database_url.startsWith('sqlite:')) return undefined
  ensureFolder(config.data, 'data')
  return lockServer(config.data)
}
