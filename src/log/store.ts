import { asc, isNull } from 'drizzle-orm'
import type { Db } from '../db/db.ts'
import { rows, update } from '../db/db.ts'
import { findFact, lockFact, writeFact } from '../db/facts.ts'
import { assertLease, type Lease, takeLease } from '../db/lease.ts'
import type { Clock } from '../kernel/clock.ts'

export type LogStore = ReturnType<typeof logStore>

const leaseName = 'sequencer'
const sizeFact = 'log.size'
export const originFact = 'log.origin'

/** The order of the log. Numbers are given out without a gap, by the holder of the lease alone. */
export function logStore(
  db: Db,
  { clock, node, origin }: { clock: Pick<Clock, 'now'>; node: string; origin: string },
) {
  const { receipts } = db.tables
  return {
    takeLease: (): Promise<Lease | undefined> => takeLease(db, clock, leaseName, node),
    /** Numbers up to `most` waiting receipts, oldest first, and returns how many. */
    number: (lease: Lease, most: number): Promise<number> =>
      db.write(function* (q) {
        yield* assertLease(db, q, lease, clock.now())
        const waiting = yield* rows(
          q
            .select({ id: receipts.id })
            .from(receipts)
            .where(isNull(receipts.logIndex))
            .orderBy(asc(receipts.id))
            .limit(most),
        )
        if (waiting.length === 0) return 0
        const size = Number((yield* lockFact(db, q, sizeFact)) ?? 0)
        const numbered = waiting.map(({ id }, i) => ({ id, logIndex: size + i }))
        yield* update(receipts, numbered, ['logIndex'])
        // From its first leaf on the log has this name, whatever base_url says later.
        if (size === 0) yield* writeFact(db, originFact, origin)
        yield* writeFact(db, sizeFact, String(size + waiting.length))
        return waiting.length
      }),
    size: async (): Promise<number> => Number((await findFact(db, sizeFact)) ?? 0),
  }
}
