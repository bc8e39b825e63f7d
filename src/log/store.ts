import { and, asc, isNotNull, isNull } from 'drizzle-orm'
import { type Db, type Query, rows, update, type Work } from '../db/db.ts'
import { findFact, lockFact, writeFact } from '../db/facts.ts'
import { assertLease, type Lease, takeLease } from '../db/lease.ts'
import type { RunRow } from '../db/schema.ts'
import type { Clock } from '../kernel/clock.ts'

export type LogStore = ReturnType<typeof logStore>

const leaseName = 'sequencer'
const sizeFact = 'log.size'
export const originFact = 'log.origin'

/** The order of the log: every receipt has a number, and no number is left out. */
export function logStore(
  db: Db,
  { clock, node, origin }: { clock: Pick<Clock, 'now'>; node: string; origin: string },
) {
  const { runs } = db.tables
  /** The size as this process last wrote it; only where it writes alone. */
  let remembered: number | undefined

  function* grow(size: number, by: number): Work<void> {
    // From its first leaf on the log has this name, whatever base_url says later.
    if (size === 0) yield* writeFact(db, originFact, origin)
    yield* writeFact(db, sizeFact, String(size + by))
  }

  return {
    takeLease: (): Promise<Lease | undefined> => takeLease(db, clock, leaseName, node),
    /** Numbers up to `most` ended runs, oldest first, and returns how many. */
    number: (lease: Lease, most: number): Promise<number> =>
      db.write(function* (q) {
        yield* assertLease(db, q, lease, clock.now())
        const waiting = yield* rows(
          q
            .select({ id: runs.id })
            .from(runs)
            .where(and(isNull(runs.logIndex), isNotNull(runs.finishedAt)))
            .orderBy(asc(runs.finishedAt), asc(runs.id))
            .limit(most),
        )
        if (waiting.length === 0) return 0
        const size = Number((yield* lockFact(db, q, sizeFact)) ?? 0)
        const numbered = waiting.map(({ id }, i) => ({ id, logIndex: size + i }))
        yield* update(runs, numbered, ['logIndex'])
        yield* grow(size, numbered.length)
        return numbered.length
      }),
    /** Numbers runs in the transaction that ends them, where this process writes alone. */
    numbering: {
      *number(q: Query, ended: RunRow[]): Work<void> {
        const size = remembered ?? Number((yield* lockFact(db, q, sizeFact)) ?? 0)
        for (const [i, run] of ended.entries()) run.logIndex = size + i
        yield* grow(size, ended.length)
        remembered = size + ended.length
      },
      forget: (): void => {
        remembered = undefined
      },
    },
    size: async (): Promise<number> => Number((await findFact(db, sizeFact)) ?? 0),
  }
}
