/** The rows that the only writer of a SQLite file keeps between batches. */
import type { AccountRow, KeyRow, WindowRow } from '../schema/schema.ts'

/** Rows per table between two batches. */
const mostRows = 20_000

/** Rows by id, as a `Map`. */
export type Rows<T> = {
  get(id: string): T | undefined
  has(id: string): boolean
  set(id: string, row: T): unknown
  values(): IterableIterator<T>
}

/**
 * Rows that need not be read again, because no other process changes them: with all that runs hold,
 * also what is stored nowhere.
 */
export type Memory = {
  accounts: Rows<AccountRow>
  keys: Rows<KeyRow>
  windows: Rows<WindowRow>
  forget(): void
  /** Forgets the rows that came first where there are too many; never within a batch. */
  trim(): void
}

export function remember(): Memory {
  const accounts = new Map<string, AccountRow>()
  const keys = new Map<string, KeyRow>()
  const windows = new Map<string, WindowRow>()
  const all: Map<string, unknown>[] = [accounts, keys, windows]
  return {
    accounts,
    keys,
    windows,
    forget() {
      for (const rows of all) rows.clear()
    },
    trim() {
      for (const rows of all) {
        if (rows.size <= mostRows) continue
        const oldest = rows.keys().take(rows.size - mostRows)
        for (const id of [...oldest]) rows.delete(id)
      }
    },
  }
}
