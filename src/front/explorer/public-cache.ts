/** Caches what the public pages show, once for all doors of a process. */
import type { Deps } from '../../app/deps-port.ts'
import type { Page } from '../../kernel/pagination.ts'
import { makeRecent, type SeenReceipt } from './recent.ts'
import { makeStats, type Stats, type Window } from './stats.ts'

export type PublicCache = {
  /** Figures of a window, at most ten seconds old. */
  stats(window: Window): Promise<Stats>
  /** Receipts before a log place, newest first. */
  recent(before: number, limit: number): Promise<Page<SeenReceipt>>
}

/** What doors that show the public log are given. */
export type PublicDeps = Deps & { publicCache: PublicCache }

export const makePublicCache = (deps: Deps): PublicCache => ({
  stats: makeStats(deps),
  recent: makeRecent(deps),
})
