/** Caches what the public pages show, once for all doors of a process. */
import type { Deps } from '../../app/deps-port.ts'
import { makeRecent, type RecentReads } from './recent.ts'
import { makeStats, type Stats, type Window } from './stats.ts'

export type PublicCache = RecentReads & {
  /** Figures of a window, at most ten seconds old. */
  stats(window: Window): Promise<Stats>
}

/** The dependencies of doors that show the public log. */
export type PublicDeps = Deps & { publicCache: PublicCache }

export const makePublicCache = (deps: Deps): PublicCache => ({
  stats: makeStats(deps),
  ...makeRecent(deps),
})
