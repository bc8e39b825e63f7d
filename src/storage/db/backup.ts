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
import type { Millis } from '../../kernel/clock.ts'
import type { Db } from './db.ts'
import { findFact } from './facts.ts'
import { migrateSqlite } from './migrate.ts'
import { upsert } from './query-steps.ts'
import { connect } from './sqlite.ts'

/** When the newest backup was made, RFC 3339; in the database that it is of. */
const newestFact = 'backup.newest'

/**
 * Copies a SQLite database as it is at one moment, also while somebody writes to it: a reader that
 * nobody waits for. `to` must not be there; afterwards it is on the disk.
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

/** Copies a file that nobody writes to, as a file that nothing lies beside. */
export function copyBackup(file: string, to: string): void {
  copyFileSync(file, to)
  const raw = new Database(to, { create: false, readwrite: true })
  raw.run('PRAGMA journal_mode = DELETE')
  raw.close()
  sync(to)
}

/** What SQLite finds wrong with a file: broken pages, indexes, references. */
export function faultsOf({ raw }: { raw: Database }): string[] {
  const told = raw.prepare('PRAGMA integrity_check(20)').values().flat().map(String)
  const broken = raw.prepare('PRAGMA foreign_key_check').values().length
  return [
    ...told.filter((line) => line !== 'ok'),
    ...(broken === 0 ? [] : [`${broken} rows refer to nothing`]),
  ]
}

/** Lets something be made in a folder beside where it will stand, which is gone afterwards. */
export async function beside<T>(target: string, make: (path: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(dirname(resolve(target)), '.counterfoil-'))
  try {
    return await make(join(folder, 'copy.db'))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/**
 * Gives a finished file its name, which is there whole or not at all.
 * @throws Error when the name is taken.
 */
export function putInPlace(file: string, name: string): void {
  try {
    // Not by renaming, which would replace what is there.
    linkSync(file, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    throw new Error(`${name} is there already; it stays as it is`)
  }
  unlinkSync(file)
  sync(dirname(name))
}

/**
 * Brings a copy that nobody else has open to this build's schema, and ends what was under way when
 * it was made: sign-ins, and calls without an answer. Afterwards it is on the disk.
 */
export function makeReady(file: string, now: Millis): { sessions: number; calls: number } {
  // Not in the mode that keeps a log beside: all that is committed is in this one file.
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

/** When the newest backup was made; undefined when none was. */
export const newestBackup = (db: Db): Promise<string | undefined> => findFact(db, newestFact)

/** What was written is on the disk, of a folder the names in it. */
function sync(path: string): void {
  const opened = openSync(path, 'r')
  try {
    fsyncSync(opened)
  } finally {
    closeSync(opened)
  }
}
