import { Database } from 'bun:sqlite'
import { join } from 'node:path'

/**
 * One server per data folder: `lock.db` is held under BEGIN EXCLUSIVE for the life of the process,
 * so a crash frees it. The pid inside is only for the message.
 * @throws Error when another server holds it.
 */
export function lockDataFolder(folder: string, pid: number): { release(): void } {
  const lock = new Database(join(folder, 'lock.db'), { create: true })
  try {
    lock.run('PRAGMA busy_timeout = 0')
    lock.run('create table if not exists holder (pid integer not null)')
    lock.run('delete from holder')
    lock.run('insert into holder values (?)', [pid])
    lock.run('PRAGMA locking_mode = EXCLUSIVE')
    lock.run('BEGIN EXCLUSIVE')
  } catch {
    lock.close()
    throw new Error(`another counterfoil serves the data folder ${folder}; stop it first`)
  }
  return { release: () => lock.close() }
}
