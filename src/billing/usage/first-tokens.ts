/** Counts how long chats waited for their first token. */
import type { EndedRun } from '../../storage/db/schema/schema.ts'

/** Chats by the bar of their wait; bars that are not there are empty. */
export type Waits = Map<number, number>

type Waited = Pick<EndedRun, 'kind' | 'startedAt' | 'firstByteAt'>

/** Bars to each doubling of the time: one is 9% wide. Stored rows depend on it. */
const barsPerDoubling = 8

/** The bar of a run; undefined for an embedding, and where no token came. */
export function barOf({ kind, startedAt, firstByteAt }: Waited): number | undefined {
  if (kind !== 'chat' || startedAt === null || firstByteAt === null) return undefined
  return Math.floor(barsPerDoubling * Math.log2(Math.max(1, firstByteAt - startedAt)))
}

export function addWait(waits: Waits, bar: number, runs = 1): void {
  waits.set(bar, (waits.get(bar) ?? 0) + runs)
}

export function addWaits(waits: Waits, more: Waits): void {
  for (const [bar, runs] of more) addWait(waits, bar, runs)
}

/** The wait in ms that a share of the chats did not exceed; undefined where there are none. */
export function waitAt(waits: Waits, share: number): number | undefined {
  const bars = [...waits].sort(([a], [b]) => a - b)
  const wanted = share * bars.reduce((sum, [, runs]) => sum + runs, 0)
  let below = 0
  for (const [bar, runs] of bars) {
    if (below + runs >= wanted) {
      return Math.round(2 ** ((bar + (wanted - below) / runs) / barsPerDoubling))
    }
    below += runs
  }
  return undefined
}
