/** Deletes past windows of brakes. */
import { and, eq, lt, sql } from 'drizzle-orm'
import type { Millis } from '../../kernel/clock.ts'
import type { Db } from '../../storage/db/engine/db.ts'
import { rows } from '../../storage/db/sql/query-steps.ts'

/** An open run may still hold money from a past window. */
const keptMs = 2 * 3_600_000

/** Keeps windows of caps: an audit compares them with all runs. */
export async function dropPastBrakes(db: Db, now: Millis): Promise<void> {
  const { keyWindows } = db.tables
  const { windowStart, held } = keyWindows
  const isBrake = sql`${windowStart} % 60000 in (1, 2)`
  const isPast = and(lt(windowStart, now - keptMs), eq(held, 0n), isBrake)
  await db.write((q) => rows(q.delete(keyWindows).where(isPast).returning()))
}
