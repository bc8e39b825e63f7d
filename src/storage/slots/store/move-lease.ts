/** The lease of a command that moves slots: without it, a move that is not over has stalled. */
import { and, eq, gt, isNull, like } from 'drizzle-orm'
import type { Millis } from '../../../kernel/clock.ts'
import type { Db } from '../../db/engine/db.ts'
import { type LeaseTime, takeLease } from '../../db/engine/lease.ts'
import type { SlotMoveRow } from '../../db/schema/schema.ts'
import { type Query, rows, type Work } from '../../db/sql/query-steps.ts'

const nameOf = (move: string): string => `move:${move}`

/** Between two renewals, in ms. */
const renewMs = 3000

/** Holds the lease of a move until the returned function is called. */
export async function holdMove(
  db: Db,
  clock: LeaseTime,
  move: string,
): Promise<() => Promise<void>> {
  const take = () => takeLease(db, clock, nameOf(move), move)
  await take()
  // A database that is away is met by the move itself.
  const renewing = setInterval(() => void take().catch(() => {}), renewMs)
  const { leases } = db.tables
  return async () => {
    clearInterval(renewing)
    const own = eq(leases.name, nameOf(move))
    await db.write((q) => rows(q.delete(leases).where(own).returning())).catch(() => {})
  }
}

/** Moves of a database that are not over while no command holds their lease, oldest first. */
export function* stalledMoves(db: Db, q: Query, now: Millis): Work<SlotMoveRow[]> {
  const { slotMoves, leases } = db.tables
  const open = yield* rows(
    q.select().from(slotMoves).where(isNull(slotMoves.endedAt)).orderBy(slotMoves.begunAt),
  )
  if (open.length === 0) return []
  const held = and(like(leases.name, nameOf('%')), gt(leases.expiresAt, now))
  const names = (yield* rows(q.select().from(leases).where(held))).map(({ name }) => name)
  return open.filter(({ id }) => !names.includes(nameOf(id)))
}
