/** Deletes what brakes counted in minutes and hours that are over. */
import { and, eq, lt, sql } from 'drizzle-orm'
import type { Millis } from '../../kernel/clock.ts'
import type { Db } from '../../storage/db/db.ts'
import { rows } from '../../storage/db/query-steps.ts'

/** A run that is still open may have been held from a window that is over. */
const keptMs = 2 * 3_600_000

/** Windows of caps stay: an audit compares them with all runs. */
export async function dropPastBrakes(db: Db, now: Millis): Promise<void> {
  const { keyWindows } = db.tables
  const { windowStart, held } = keyWindows
  const isBrake = sql`${windowStart} % 60000 in (1, 2)`
  const isPast = and(lt(windowStart, now - keptMs), eq(held, 0n), isBrake)
  await db.write((q) => rows(q.delete(keyWindows).where(isPast).returning()))
}
