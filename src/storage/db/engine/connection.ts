/** A connection to a SQLite file: its settings, and how its log is emptied. */
import { Database, SQLiteError } from 'bun:sqlite'

/** How long a write waits for another process's lock before a later retry, in ms. */
const busyTimeoutMs = 100
/** How long the opening of a file may wait for another process, in ms. */
const openWithinMs = 5000
/** The pause between two attempts of the opening, in ms. */
const againAfterMs = 5

/**
 * The page size of new files and of backups. A COMMIT writes whole pages to the log, and a run
 * changes about a dozen, each by far less than this: half the default halves what it writes.
 */
export const pageBytes = 2048
/** How long the log gets before its pages go into the file, in bytes. */
const logBytes = 16 * 1024 * 1024

/** Opens a connection with the pragmas that every connection needs. */
export function connect(file: string, options: { readonly?: boolean } = {}): Database {
  const raw = new Database(file, { create: !options.readonly, safeIntegers: true, strict: true })
  // At the opening, another process that creates the file may take longer.
  raw.run(`PRAGMA busy_timeout = ${openWithinMs}`)
  // Before the first write: it does not change a file that exists.
  raw.run(`PRAGMA page_size = ${pageBytes}`)
  // A new or restored file is not in this mode.
  if (!options.readonly) enterWal(raw)
  raw.run('PRAGMA synchronous = FULL')
  raw.run('PRAGMA foreign_keys = ON')
  // Savepoints copy pages; in memory a run takes a third fewer writes.
  raw.run('PRAGMA temp_store = MEMORY')
  // A COMMIT that split pages walks the whole cache; the system caches the rest of the file.
  raw.run('PRAGMA cache_size = -4096')
  const own = Number(raw.query('PRAGMA page_size').values()[0]?.[0])
  raw.run(`PRAGMA wal_autocheckpoint = ${logBytes / own}`)
  raw.run('PRAGMA journal_size_limit = 67108864')
  // Deleted texts and seeds must be gone from the file once their owner is told so.
  raw.run('PRAGMA secure_delete = ON')
  raw.run(`PRAGMA busy_timeout = ${busyTimeoutMs}`)
  return raw
}

/**
 * Turns a file to write-ahead logging. Two processes that create it both read before they write,
 * where SQLite answers "busy" at once instead of waiting; so this tries again.
 */
function enterWal(raw: Database): void {
  for (let left = openWithinMs / againAfterMs; ; left--) {
    try {
      return void raw.run('PRAGMA journal_mode = WAL')
    } catch (error) {
      const isBusy = error instanceof SQLiteError && error.code === 'SQLITE_BUSY'
      if (!isBusy || left <= 0) throw error
    }
    Bun.sleepSync(againAfterMs)
  }
}

/**
 * Empties the write-ahead log, which holds pages from before a delete. Never waits for a reader:
 * one in this process could not proceed meanwhile.
 */
export function emptyLog(raw: Database): boolean {
  raw.run('PRAGMA busy_timeout = 0')
  try {
    const [row] = raw.query<{ busy: bigint }, []>('PRAGMA wal_checkpoint(TRUNCATE)').all()
    return row?.busy === 0n
  } finally {
    raw.run(`PRAGMA busy_timeout = ${busyTimeoutMs}`)
  }
}
