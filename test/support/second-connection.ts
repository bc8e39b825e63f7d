import type { Database } from 'bun:sqlite'
import type { Db } from '../../src/storage/db/engine/db.ts'
import { openSqlite } from '../../src/storage/db/engine/sqlite.ts'
import { lookEveryMs } from '../../src/storage/db/engine/version.ts'

/**
 * The database as another process has it: by a connection of its own to a SQLite file, whose writes
 * the first connection only finds by looking. A server tells no connections apart.
 */
export function secondConnection(db: Db): { db: Db; close: () => Promise<void> } {
  if (db.engine !== 'sqlite') return { db, close: async () => {} }
  const { raw } = db as Db & { raw: Database }
  const second = openSqlite(raw.filename)
  return { db: second, close: () => second.close() }
}

/** Waits until the first connection looks for writes of the second one again. */
export const lookedAgain = (): Promise<void> => Bun.sleep(2 * lookEveryMs)
