/** Tells batches that need no read, as most do where one process writes. */
import { type OpenRuns, windowId } from '../../storage/holds/open-runs.ts'
import { brakesOf, hasBrake } from '../brake.ts'
import type { Command } from '../command.ts'
import type { TrackedRows } from '../unit-of-work.ts'
import { windowStart } from '../window.ts'

/** Members that a hold or the end of a run names; a command with any other is loaded. */
type KnownField = 'account' | 'keys' | 'windows' | 'run' | 'call' | 'decide'
/** Members that load nothing. */
type Flag = 'isHold' | 'isExempt' | 'isRepair'
type More = Exclude<keyof Command<unknown>, KnownField | Flag>

const more = Object.keys({
  to: true,
  opens: true,
  mints: true,
  below: true,
  secretsOf: true,
  parts: true,
} satisfies Record<More, true>) as More[]

function namesMore(command: Command<unknown>): boolean {
  for (const name of more) if (command[name] !== undefined) return true
  return false
}

/** Whether all rows of a batch but calls are known; finds the open runs that it names. */
export function isKnown(
  open: OpenRuns,
  tracked: TrackedRows,
  commands: readonly Command<unknown>[],
  now: number,
): boolean {
  for (const command of commands) {
    if (namesMore(command)) return false
    const { account, keys, windows, run: id } = command
    if (!tracked.accounts.has(account)) return false
    for (const each of keys) {
      const key = tracked.keys.get(each)
      if (!key || !tracked.windows.has(windowId(each, windowStart(key.capWindow, now))))
        return false
      if (!hasBrake(key)) continue
      for (const brake of brakesOf(key, now)) {
        if (!tracked.windows.has(windowId(each, brake.start))) return false
      }
    }
    if (windows) {
      for (const [key, start] of windows) {
        if (!tracked.windows.has(windowId(key, start))) return false
      }
    }
    if (id === undefined) continue
    const run = open.find(id)
    if (!run) return false
    tracked.runs.set(id, run)
  }
  return true
}
