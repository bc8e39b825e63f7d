/** Empties the unit of work of a hold in memory, to use it again. */
import type { TrackedRows } from './unit-of-work.ts'

/** Empties what a hold in memory added and changed: none of it is written. */
export function forgetHold({ runs, calls, written, added }: TrackedRows): void {
  runs.clear()
  calls.clear()
  added.runs.length = 0
  added.calls.length = 0
  written.accounts.clear()
  written.windows.clear()
}
