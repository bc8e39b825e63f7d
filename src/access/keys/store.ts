/** SQL of {@link Keys}. */
import { and, eq, gt, inArray, isNull, or } from 'drizzle-orm'
import type { Clock } from '../../kernel/clock.ts'
import { isBeside } from '../../storage/db/beside.ts'
import type { Db } from '../../storage/db/db.ts'
import { isUnder } from '../../storage/db/lineage.ts'
import { first, rows } from '../../storage/db/query-steps.ts'
import type { KeyRow, WindowRow } from '../../storage/db/schema.ts'
import type { Plans } from '../plan.ts'
import type { Keys } from './keys.ts'
import { callers } from './store/caller.ts'
import { keyUses } from './store/key-use.ts'
import { shownKeys, windowAt } from './store/shown-key.ts'

export function keyStore(
  db: Db,
  clock: Pick<Clock, 'now' | 'monotonic'>,
  plans: Pick<Plans, 'of'>,
): Keys {
  const { keys, keyWindows, runs } = db.tables

  const isBelow = (key: KeyRow) => and(eq(keys.accountId, key.accountId), isUnder(keys, key.id))

  return {
    ...callers(db, clock, plans),
    ...shownKeys(db),
    ...keyUses(db),
    find: (id) => db.read((q) => first(q.select().from(keys).where(eq(keys.id, id)))),
    async subtree(key) {
      const found = await db.read((q) =>
        rows(q.select({ id: keys.id }).from(keys).where(isBelow(key))),
      )
      return found.map(({ id }) => id)
    },
    below: (key) => db.read((q) => rows(q.select().from(keys).where(isBelow(key)))),
    runsInFlight: (account) =>
      db.read((q) => {
        // Counted by the caller: a GROUP BY would read an index of all runs ever made.
        const open = and(isNull(runs.finishedAt), isBeside(runs.accountId, account))
        return rows(q.select({ keyId: runs.keyId }).from(runs).where(open))
      }),
    windows: (wanted) =>
      db.read(function* (q) {
        // In process there is no round trip: a compiled look-up for each is faster.
        if (db.exclusive) {
          const found: WindowRow[] = []
          for (const { keyId, start } of wanted) {
            found.push(...(yield* windowAt(db.tables, q, keyId, start)))
          }
          return found
        }
        const named = wanted.map(({ keyId, start }) =>
          and(eq(keyWindows.keyId, keyId), eq(keyWindows.windowStart, start)),
        )
        return yield* rows(
          q
            .select()
            .from(keyWindows)
            .where(or(...named)),
        )
      }),
    revokedAmong: (ids) =>
      db.read((q) =>
        rows(
          q
            .select({ id: keys.id })
            .from(keys)
            .where(and(inArray(keys.id, ids), gt(keys.revokedAt, 0))),
        ),
      ),
  }
}
