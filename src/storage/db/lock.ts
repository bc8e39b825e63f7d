import { Database } from 'bun:sqlite'
import { accessSync, constants, existsSync } from 'node:fs'
import { join } from 'node:path'
import { type FileLock, lockInode, withHolder } from './file-lock.ts'

/** What keeps a second server away from a data folder and from a SQLite database. */
export type ServerLock = FileLock & {
  /**
   * Locks the database file as well, once it exists; a second call does nothing. Call it before
   * the first connection to the file where the file exists already.
   * @throws Error while another server has the file, under whatever name and data folder.
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
 * One server per data folder: `lock.db` is held under BEGIN EXCLUSIVE for the life of the process,
 * so a crash frees it. Nothing is written into it: nothing of it has to reach the disk. A deleted
 * `lock.db` keeps no server away, which is why the database file is locked too.
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

/**
 * SQLite opens a file that it may not write for reading, without a word, and BEGIN EXCLUSIVE then
 * keeps nobody away.
 */
function openWritable(path: string): Database {
  const lock = new Database(path, { create: true })
  try {
    // By its name: to open and close the file here would free a lock that this process has on it.
    accessSync(path, constants.W_OK)
    return lock
  } catch (cause) {
    lock.close()
    const advice = 'give it to the user that counterfoil runs as, mode 0600'
    throw new Error(`this user may not write ${path}; ${advice}`, { cause })
  }
}
