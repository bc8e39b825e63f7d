import { makeRecent } from './recent.ts'
import { makeStats } from './stats.ts'

/** What everybody may see, remembered for a moment: one for all doors of a process. */
export type Explored = ReturnType<typeof makeExplored>

export const makeExplored = (
  deps: Parameters<typeof makeStats>[0] & Parameters<typeof makeRecent>[0],
) => ({ stats: makeStats(deps), recent: makeRecent(deps) })
