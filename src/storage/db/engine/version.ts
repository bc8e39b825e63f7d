/** Numbers the state of a SQLite file, so that caches notice writes. */
import type { Database } from 'bun:sqlite'
import { systemClock } from '../../../kernel/clock.ts'
import type { OpenRuns } from '../../holds/open-runs.ts'

/**
 * How often other processes' writes are looked for, in ms: each look takes a lock. A flush always
 * looks, so under load it finds them before this does.
 */
export const lookEveryMs = 4

/** Returns another number after each hold or write of this process or a write of another one. */
export function makeVersion(raw: Database, open: Pick<OpenRuns, 'changes'>): () => number {
  const changes = raw.prepare('select total_changes()')
  const dataVersion = raw.prepare('PRAGMA data_version')
  let lookedAt = Number.NEGATIVE_INFINITY
  let version = 0
  let own: unknown
  let others: unknown
  let holds = 0
  return () => {
    const now = systemClock.monotonic()
    const ownNow = changes.values()[0]?.[0]
    const isDue = now - lookedAt >= lookEveryMs
    const othersNow = isDue ? dataVersion.values()[0]?.[0] : others
    if (isDue) lookedAt = now
    if (ownNow !== own || othersNow !== others || open.changes !== holds) version++
    own = ownNow
    holds = open.changes
    others = othersNow
    return version
  }
}
