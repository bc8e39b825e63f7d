/** The rows that the only writer of a SQLite file keeps between batches. */
import { LRUCache } from 'lru-cache'
import type { AccountRow, KeyRow, RunRow, WindowRow } from './schema.ts'

/** Rows per table, by size: `max` would allocate the room at once, 4 ms of a start. */
const room = { maxSize: 20_000, sizeCalculation: () => 1 }

type Cache<T> = { get(id: string): T | undefined }

/** Rows that need not be read again, because no other process changes them. */
export type Memory = {
  accounts: Cache<AccountRow>
  keys: Cache<KeyRow>
  windows: Cache<WindowRow>
  /** Open runs. */
  runs: Cache<RunRow>
  /** Remembers what a batch read and wrote; forgets ended runs. */
  keep(batch: Rows): void
  forget(): void
}

type Rows = {
  accounts: Map<string, AccountRow>
  keys: Map<string, KeyRow>
  windows: Map<string, WindowRow>
  runs: Map<string, RunRow>
}

export function remember(): Memory {
  const accounts = new LRUCache<string, AccountRow>(room)
  const keys = new LRUCache<string, KeyRow>(room)
  const windows = new LRUCache<string, WindowRow>(room)
  const runs = new Map<string, RunRow>()
  return {
    accounts,
    keys,
    windows,
    runs,
    keep(batch) {
      for (const [id, row] of batch.accounts) accounts.set(id, row)
      for (const [id, row] of batch.keys) keys.set(id, row)
      for (const [id, row] of batch.windows) windows.set(id, row)
      for (const run of batch.runs.values()) {
        if (run.finishedAt === null) runs.set(run.id, run)
        else runs.delete(run.id)
      }
    },
    forget() {
      accounts.clear()
      keys.clear()
      windows.clear()
      runs.clear()
    },
  }
}
