/** Finds the window of a key, or begins one in which nothing was spent. */
import type { Millis } from '../kernel/clock.ts'
import type { Nusd } from '../kernel/money.ts'
import type { Rows } from '../storage/db/engine/memory.ts'
import type { KeyRow, WindowRow } from '../storage/db/schema/schema.ts'
import { windowId } from '../storage/holds/open-runs.ts'

export function orFresh(windows: Rows<WindowRow>, { id }: KeyRow, start: Millis, limit: Nusd) {
  const name = windowId(id, start)
  const known = windows.get(name)
  if (known) return known
  const fresh: WindowRow = {
    keyId: id,
    windowStart: start,
    limit,
    spent: 0n,
    held: 0n,
    told: null,
  }
  windows.set(name, fresh)
  return fresh
}
