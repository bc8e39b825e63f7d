/** Numbers the state of a SQLite file, so that caches notice writes. */
import type { Database } from 'bun:sqlite'
import { systemClock } from '../../kernel/clock.ts'

/** How often other processes' writes are looked for, in ms: each look takes a lock. */
const lookEveryMs = 1

/** Returns another number after each write of this connection or of another process. */
export function makeVersion(raw: Database): () => number {
  const changes = raw.prepare('select total_changes()')
  const dataVersion = raw.prepare('PRAGMA data_version')
  let lookedAt = Number.NEGATIVE_INFINITY
  let version = 0
  let own: unknown
  let others: unknown
  return () => {
    const now = systemClock.monotonic()
    const ownNow = changes.values()[0]?.[0]
    const isDue = now - lookedAt >= lookEveryMs
    const othersNow = isDue ? dataVersion.values()[0]?.[0] : others
    if (isDue) lookedAt = now
    if (ownNow !== own || othersNow !== others) version++
    own = ownNow
    others = othersNow
    return version
  }
}
