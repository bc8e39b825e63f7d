/** Runs the work of stores on SQLite or PostgreSQL: transactions, snapshots and change notices. */
import type { Millis } from '../../kernel/clock.ts'
import type { Notices } from './notices.ts'
import type { Query, Work } from './query-steps.ts'
import type { Tables } from './schema.ts'
import type { Storage } from './storage.ts'

export type Db = {
  engine: 'sqlite' | 'postgres'
  tables: Tables
  /**
   * True while rows that were read inside a write stay true until the next write: one process
   * owns the file. Another process's write is told through {@link Db.onForeignWrite} first.
   */
  exclusive: boolean
  /** Runs `work` atomically; settles after its COMMIT. */
  write<T>(work: (q: Query) => Work<T>): Promise<T>
  /** Runs `work` without a transaction. */
  read<T>(work: (q: Query) => Work<T>): Promise<T>
  /**
   * Another number after each write: of this process at once, of others within a millisecond.
   * Absent where only asking tells.
   */
  version?(): number
  /** Runs `work` on one unmoving picture; the event loop turns between its steps. */
  snapshot<T>(work: (q: Query) => Work<T>): Promise<T>
  /** Called when remembered rows may be wrong: another writer was here, or a COMMIT failed. */
  onForeignWrite(listener: () => void): void
  /**
   * Reads the server's clock, in ms since the Unix epoch: the only time that does not come from the
   * process, for {@link LeaseClock} alone. Absent where there is no server.
   */
  readClock?: (() => Promise<Millis>) | undefined
  /**
   * Called at once when a connection to the server broke or could not be opened: the next one may
   * reach a database that lacks what this process read and wrote. Comes once for each connection,
   * so often in a burst, and while the server is still away. Never called on SQLite.
   */
  onConnectionLost(listener: () => void): void
  /**
   * Takes what was deleted out of the database's files, as far as this process can. False while
   * somebody reads an older state of a SQLite file, whose log must then stay as it is.
   */
  scrub(): Promise<boolean>
  /** Bytes of SQLite's write-ahead log; null where a server keeps it. */
  walBytes(): number | null
  /** How the files of the database are; absent where a server keeps them. */
  storage?: Storage
  /** What processes on one database tell each other at once; absent where there is but one. */
  notices?: Notices
  close(): Promise<void>
}
