/** Makes the rows that a batch of commands loads and changes, and empties those of a hold. */
import type { TrackedRows } from './unit-of-work.ts'

type Purses = Pick<TrackedRows, 'accounts' | 'keys' | 'windows'>

/** `purses` are those that outlive the batch, where one process writes. */
export const trackedRows = (purses?: Purses): TrackedRows => ({
  accounts: purses?.accounts ?? new Map(),
  keys: purses?.keys ?? new Map(),
  activeKeys: new Map(),
  secrets: new Map(),
  windows: purses?.windows ?? new Map(),
  runs: new Map(),
  calls: new Map(),
  written: {
    accounts: new Set(),
    keys: new Set(),
    secrets: new Set(),
    windows: new Set(),
    runs: new Set(),
    alerts: new Set(),
    budgets: new Set(),
  },
  added: {
    keys: [],
    secrets: [],
    runs: [],
    ended: [],
    transfers: [],
    audits: [],
    events: [],
    costs: [],
    calls: [],
  },
  calledBack: { answered: [], freed: [] },
})

/** Empties what a hold in memory added and changed, to use it again: none of it is written. */
export function forgetHold({ runs, calls, written, added }: TrackedRows): void {
  runs.clear()
  calls.clear()
  added.runs.length = 0
  added.calls.length = 0
  written.accounts.clear()
  written.windows.clear()
}
