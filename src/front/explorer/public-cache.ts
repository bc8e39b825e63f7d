/** Caches what the public pages show, once for all doors of a process. */
import type { Deps } from '../../app/deps-port.ts'
import { makeRecent } from './recent.ts'
import { makeStats } from './stats.ts'

export type PublicCache = {
  /** Figures of a window, at most ten seconds old. */
  stats: ReturnType<typeof makeStats>
  /** Receipts before a log place, newest first. */
  recent: ReturnType<typeof makeRecent>
}

export const makePublicCache = (deps: Deps): PublicCache => ({
  stats: makeStats(deps),
  recent: makeRecent(deps),
})
