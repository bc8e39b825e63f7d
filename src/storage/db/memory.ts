import { LRUCache } from 'lru-cache'
import type { AccountRow, KeyRow, RunRow, WindowRow } from './schema.ts'

/**
 * Rows of each table that are remembered, besides the open runs: by size, of which each has one,
 * because room for so many that is taken at once was 4 ms of a start.
 */
const room = { maxSize: 20_000, sizeCalculation: () => 1 }

/** The rows that the only writer needs not read again, because nobody else changes them. */
export type Memory = ReturnType<typeof remember>

type Rows = {
  accounts: Map<string, AccountRow>
  keys: Map<string, KeyRow>
  windows: Map<string, WindowRow>
  runs: Map<string, RunRow>
}

export function remember() {
  const accounts = new LRUCache<string, AccountRow>(room)
  const keys = new LRUCache<string, KeyRow>(room)
  const windows = new LRUCache<string, WindowRow>(room)
  const runs = new Map<string, RunRow>()
  return {
    accounts,
    keys,
    windows,
    runs,
    /** Remembers what a batch read and wrote; an ended run is forgotten. */
    keep(batch: Rows): void {
      for (const [id, row] of batch.accounts) accounts.set(id, row)
      for (const [id, row] of batch.keys) keys.set(id, row)
      for (const [id, row] of batch.windows) windows.set(id, row)
      for (const run of batch.runs.values()) {
        if (run.finishedAt === null) runs.set(run.id, run)
        else runs.delete(run.id)
      }
    },
    forget(): void {
      accounts.clear()
      keys.clear()
      windows.clear()
      runs.clear()
    },
  }
}
