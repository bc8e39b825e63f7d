import { LRUCache } from 'lru-cache'
import type { AccountRow, KeyRow, RunRow, WindowRow } from './schema.ts'

/** Rows of each table that are remembered, besides the open runs. */
const rememberedMax = 20_000

/** The rows that the only writer needs not read again, because nobody else changes them. */
export type Memory = ReturnType<typeof remember>

type Rows = {
  accounts: Map<string, AccountRow>
  keys: Map<string, KeyRow>
  windows: Map<string, WindowRow>
  runs: Map<string, RunRow>
}

export function remember() {
  const accounts = new LRUCache<string, AccountRow>({ max: rememberedMax })
  const keys = new LRUCache<string, KeyRow>({ max: rememberedMax })
  const windows = new LRUCache<string, WindowRow>({ max: rememberedMax })
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
