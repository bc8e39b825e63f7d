/** Runs the work of stores on SQLite or PostgreSQL: transactions, snapshots and change notices. */
import type { Millis } from '../../../kernel/clock.ts'
import type { OpenRuns } from '../../holds/open-runs.ts'
import type { Tables } from '../schema/schema.ts'
import type { Views } from '../schema/views.ts'
import type { Query, Work } from '../sql/query-steps.ts'
import type { Notices } from './notices.ts'
import type { Storage } from './storage.ts'

/**
 * Called once with whether a write is stored, before it resolves; on SQLite in the turn of the
 * COMMIT. False if it was too small to show that a full disk takes writes again.
 */
export type WriteListener = (isStored: boolean) => boolean

export type Db = {
  engine: 'sqlite' | 'postgres'
  tables: Tables
  views: Views
  /**
   * True where one process owns the file: rows read in a write stay valid until the next one.
   * Another process's write is reported by {@link Db.onForeignWrite} first.
   */
  exclusive: boolean
  /** The open runs in memory alone: some where one process writes, none on a server. */
  open: OpenRuns
  /** Runs `work` in a transaction; resolves after its COMMIT. @throws StorageFault */
  write<T>(work: (q: Query) => Work<T>, ended?: WriteListener): Promise<T>
  /** Runs `work` without a transaction. */
  read<T>(work: (q: Query) => Work<T>): Promise<T>
  /**
   * Returns another number after each write: of this process at once, of others within a
   * millisecond. Absent on PostgreSQL.
   */
  version?(): number
  /** Runs `work` on one snapshot; the event loop turns between its steps. */
  snapshot<T>(work: (q: Query) => Work<T>): Promise<T>
  /** Calls back when cached rows may be wrong: another process wrote, or a COMMIT failed. */
  onForeignWrite(listener: () => void): void
  /** Calls these listeners if another process wrote; looks at most every `lookEveryMs`. */
  noticeForeign(): void
  /** Reads the server's clock, for {@link LeaseClock} alone. Absent on SQLite. */
  readClock?: (() => Promise<Millis>) | undefined
  /**
   * Calls back when a connection broke or could not be opened: the next one may reach a database
   * that lacks what this process read and wrote. Comes in bursts, once per connection. Never on
   * SQLite.
   */
  onConnectionLost(listener: () => void): void
  /**
   * Removes deleted data from the database's files, as far as this process can. Returns false while
   * a reader of an older state keeps SQLite's log.
   */
  scrub(): Promise<boolean>
  /** The size of SQLite's write-ahead log in bytes; null on a server. */
  walBytes(): number | null
  /** The health of the storage. */
  storage?: Storage
  /** Messages between the processes of one database; absent on SQLite. */
  notices?: Notices
  close(): Promise<void>
}
