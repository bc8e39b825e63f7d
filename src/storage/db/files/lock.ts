/** Keeps a second server away from a data folder and its SQLite file. */
import { Database } from 'bun:sqlite'
import { accessSync, constants, existsSync } from 'node:fs'
import { join } from 'node:path'
import { type FileLock, lockInode, withHolder } from './file-lock.ts'

export type ServerLock = FileLock & {
  /**
   * Locks the database file once it exists; a second call does nothing. Call it before the first
   * connection to an existing file.
   * @throws Error while another server has the file, under any name or data folder.
   */
  holdFile(file: string): void
}

/** The lock of a data folder, to which the lock of the database file is added. */
export function lockServer(folder: string): ServerLock {
  const locks: FileLock[] = [lockDataFolder(folder)]
  let isHeld = false
  return {
    holdFile(file) {
      if (isHeld || !existsSync(file)) return
      const lock = lockDatabaseFile(file)
      if (lock) locks.push(lock)
      isHeld = true
    },
    release() {
      for (const lock of locks.splice(0).reverse()) lock.release()
    },
  }
}

/** {@link lockInode} of a database. @throws Error while a server has it. */
export const lockDatabaseFile = (file: string): FileLock | undefined =>
  lockInode(file, `another counterfoil serves the database ${file}`)

/**
 * Holds `lock.db` under BEGIN EXCLUSIVE for the life of the process, so a crash frees it. It stays
 * empty. A deleted `lock.db` stops no server, so the database file is locked too.
 * @throws Error when another server holds it, or when this user may not write it.
 */
export function lockDataFolder(folder: string): FileLock {
  const path = join(folder, 'lock.db')
  const lock = openWritable(path)
  try {
    lock.run('PRAGMA busy_timeout = 0')
    lock.run('BEGIN EXCLUSIVE')
  } catch {
    const message = withHolder(`another counterfoil serves the data folder ${folder}`, path)
    lock.close()
    throw new Error(message)
  }
  return {
    release: () => {
      lock.run('ROLLBACK')
      lock.close()
    },
  }
}

/** SQLite silently opens an unwritable file for reading, and BEGIN EXCLUSIVE then locks nothing. */
function openWritable(path: string): Database {
  const lock = new Database(path, { create: true })
  try {
    // By name: closing a descriptor of the file would drop the locks this process has on it.
    accessSync(path, constants.W_OK)
    return lock
  } catch (cause) {
    lock.close()
    const advice = 'give it to the user that counterfoil runs as, mode 0600'
    throw new Error(`this user may not write ${path}; ${advice}`, { cause })
  }
}
