import { Database } from 'bun:sqlite'
import { join } from 'node:path'

/**
 * One server per data folder: `lock.db` is held under BEGIN EXCLUSIVE for the life of the process,
 * so a crash frees it. Nothing is written into it: nothing of it has to reach the disk.
 * @throws Error when another server holds it.
 */
export function lockDataFolder(folder: string): { release(): void } {
  const lock = new Database(join(folder, 'lock.db'), { create: true })
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
