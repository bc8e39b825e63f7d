import { Database } from 'bun:sqlite'
import { accessSync, constants } from 'node:fs'
import { join } from 'node:path'

/**
 * One server per data folder: `lock.db` is held under BEGIN EXCLUSIVE for the life of the process,
 * so a crash frees it. Nothing is written into it: nothing of it has to reach the disk.
 * @throws Error when another server holds it, or when this user may not write it.
 */
export function lockDataFolder(folder: string): { release(): void } {
  const lock = openWritable(join(folder, 'lock.db'))
  try {
    lock.run('PRAGMA busy_timeout = 0')
    lock.run('BEGIN EXCLUSIVE')
  } catch {
    lock.close()
    throw new Error(`another counterfoil serves the data folder ${folder}; stop it first`)
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
