/** Copies SQLite databases, checks them, and prepares them to be restored. */
import { Database } from 'bun:sqlite'
import {
  closeSync,
  copyFileSync,
  fsyncSync,
  linkSync,
  mkdtempSync,
  openSync,
  rmSync,
  unlinkSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Millis } from '../../../kernel/clock.ts'
import { connect } from '../engine/connection.ts'
import type { Db } from '../engine/db.ts'
import { migrateSqlite } from '../schema/migrate.ts'
import { findFact } from '../sql/facts.ts'
import { upsert } from '../sql/query-steps.ts'

/** The fact with the time of the newest backup, RFC 3339. */
const newestFact = 'backup.newest'

/** How old the newest backup may be, in ms. */
export const staleBackupMs = 7 * 86_400_000

/**
 * Copies a SQLite database as of one moment, even under writes, without blocking them. `to` must
 * not exist; it is synced to the disk on return.
 */
export function copyDatabase(file: string, to: string): void {
  const source = connect(file, { readonly: true })
  try {
    source.run('VACUUM INTO ?', [to])
  } finally {
    source.close()
  }
  sync(to)
}

/** Copies a database that has no writer into a single file, without a write-ahead log. */
export function copyBackup(file: string, to: string): void {
  copyFileSync(file, to)
  const raw = new Database(to, { create: false, readwrite: true })
  raw.run('PRAGMA journal_mode = DELETE')
  raw.close()
  sync(to)
}

/** The faults SQLite finds in a file: broken pages, indexes, references. */
export function faultsOf({ raw }: { raw: Database }): string[] {
  const told = raw.prepare('PRAGMA integrity_check(20)').values().flat().map(String)
  const broken = raw.prepare('PRAGMA foreign_key_check').values().length
  return [
    ...told.filter((line) => line !== 'ok'),
    ...(broken === 0 ? [] : [`${broken} rows refer to missing rows`]),
  ]
}

/** Runs `make` with a path in a temporary folder next to `target`, then deletes the folder. */
export async function beside<T>(target: string, make: (path: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(dirname(resolve(target)), '.counterfoil-'))
  try {
    return await make(join(folder, 'copy.db'))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Gives a finished file its name atomically. @throws Error when the name is taken. */
export function putInPlace(file: string, name: string): void {
  try {
    // Not rename, which would replace an existing file.
    linkSync(file, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    throw new Error(`${name} already exists and stays unchanged`)
  }
  unlinkSync(file)
  sync(dirname(name))
}

/**
 * Migrates an unused copy to this build's schema, and deletes sessions, pending sign-ins and calls
 * without an answer. It is synced to the disk on return.
 */
export function prepareCopy(file: string, now: Millis): { sessions: number; calls: number } {
  // Without a write-ahead log, so that all commits are in this one file.
  const raw = new Database(file, { create: false, readwrite: true, safeIntegers: true })
  try {
    raw.run('PRAGMA journal_mode = DELETE')
    raw.run('PRAGMA secure_delete = ON')
    migrateSqlite(raw, now, () => {})
    const sessions = raw.run('delete from sessions').changes
    raw.run('delete from sign_in_nonces')
    const calls = raw.run('delete from idempotent_calls where reply is null').changes
    return { sessions: Number(sessions), calls: Number(calls) }
  } finally {
    raw.close()
    sync(file)
  }
}

export const noteBackup = (db: Db, at: string): Promise<void> =>
  db.write(function* () {
    yield* upsert(db.tables.facts, [{ name: newestFact, value: at }], ['value'])
  })

/** The time of the newest backup, RFC 3339; undefined if none was made. */
export const newestBackup = (db: Db): Promise<string | undefined> => findFact(db, newestFact)

/** Syncs a file, or the names in a folder, to the disk. */
function sync(path: string): void {
  const opened = openSync(path, 'r')
  try {
    fsyncSync(opened)
  } finally {
    closeSync(opened)
  }
}
