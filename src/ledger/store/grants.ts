/** Reads the grants that are booked once ever. */
import { and, gte, inArray, lt } from 'drizzle-orm'
import type { Db } from '../../storage/db/engine/db.ts'
import { rows } from '../../storage/db/sql/query-steps.ts'
import { type BookedGrant, bookedIn } from '../grant-rows.ts'

/** Ids read in one step. */
const idsRead = 200

/** By their ids. */
export function bookedGrants(db: Db, ids: readonly string[]): Promise<Map<string, BookedGrant>> {
  const { auditEntries: entries } = db.tables
  return db.read(function* (q) {
    const booked = new Map<string, BookedGrant>()
    for (let at = 0; at < ids.length; at += idsRead) {
      const some = inArray(entries.id, ids.slice(at, at + idsRead))
      for (const entry of yield* rows(q.select().from(entries).where(some))) {
        const grant = bookedIn(entry)
        if (grant) booked.set(entry.id, grant)
      }
    }
    return booked
  })
}

/** The sources of the grants whose ids are at least `from` and below `to`. */
export function grantSources(db: Db, from: string, to: string): Promise<string[]> {
  const { auditEntries: entries } = db.tables
  const isBetween = and(gte(entries.id, from), lt(entries.id, to))
  return db.read(function* (q) {
    const found = yield* rows(q.select().from(entries).where(isBetween))
    return found.flatMap(({ action, detail: { source } }) =>
      action === 'grant' && typeof source === 'string' ? [source] : [],
    )
  })
}
