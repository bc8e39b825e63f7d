import type { Database } from 'bun:sqlite'
import { closeSync, copyFileSync, fsyncSync, linkSync, openSync, unlinkSync } from 'node:fs'
import { dirname } from 'node:path'
import { isNull } from 'drizzle-orm'
import { type Db, rows, upsert } from './db.ts'
import { findFact } from './facts.ts'
import { connect, openSqlite } from './sqlite.ts'

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

/** Copies a file that nobody writes to. */
export function copyBackup(file: string, to: string): void {
  copyFileSync(file, to)
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

/** Opens a copy to look into it; closing leaves one file and nothing beside it. */
export function openCopy(file: string): ReturnType<typeof openSqlite> {
  const db = openSqlite(file)
  const close = async (): Promise<void> => {
    db.raw.run('PRAGMA journal_mode = DELETE')
    await db.close()
    sync(file)
  }
  return { ...db, close }
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

/** What was under way when a copy was made is over: sign-ins, and calls without an answer. */
export async function endWhatWasOpen(db: Db): Promise<{ sessions: number; calls: number }> {
  const { sessions, signInNonces, idempotentCalls } = db.tables
  return db.write(function* (q) {
    const ended = yield* rows(q.delete(sessions).returning({ id: sessions.id }))
    yield* rows(q.delete(signInNonces).returning({ nonce: signInNonces.nonce }))
    const open = isNull(idempotentCalls.reply)
    const { scope } = idempotentCalls
    const freed = yield* rows(q.delete(idempotentCalls).where(open).returning({ scope }))
    return { sessions: ended.length, calls: freed.length }
  })
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
