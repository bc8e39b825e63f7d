import type { Database } from 'bun:sqlite'
import { systemClock } from '../../kernel/clock.ts'

/** Others' writes are looked for once in this many ms: that takes a lock, as a read does. */
const lookEveryMs = 1

/** Counts what a connection wrote, whoever asked it to, and what others wrote to its file. */
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
