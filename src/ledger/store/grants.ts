/** Reads the grants that are booked once ever. */
import { and, gte, lt } from 'drizzle-orm'
import type { Db } from '../../storage/db/engine/db.ts'
import { rows } from '../../storage/db/sql/query-steps.ts'
import { type BookedGrant, bookedIn } from '../grant-rows.ts'

/** A grant with the owner elsewhere that it is of. */
export type MovedGrant = BookedGrant & { source: string }

/** By their ids, the grants whose ids are at least `from` and below `to`. */
export function grantsBetween(db: Db, from: string, to: string): Promise<Map<string, MovedGrant>> {
  const { auditEntries: entries } = db.tables
  const isBetween = and(gte(entries.id, from), lt(entries.id, to))
  return db.read(function* (q) {
    const found = yield* rows(q.select().from(entries).where(isBetween))
    return new Map(
      found.flatMap((entry): [string, MovedGrant][] => {
        const grant = bookedIn(entry)
        return grant ? [[entry.id, { ...grant, source: String(entry.detail['source']) }]] : []
      }),
    )
  })
}
