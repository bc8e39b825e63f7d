/** Sums what a key and those below it spent lately. */
import { and, eq, gte, inArray, sql } from 'drizzle-orm'
import type { Db } from '../../../storage/db/engine/db.ts'
import { isUnder } from '../../../storage/db/sql/lineage.ts'
import { first } from '../../../storage/db/sql/query-steps.ts'
import type { KeySpending } from '../keys.ts'

/** Reads the sums of days, which lag some seconds behind the runs. */
export function keySpending(db: Db): KeySpending {
  const { keys, usageDays } = db.tables
  const total = (column: unknown) => sql<string>`cast(coalesce(sum(${column}), 0) as text)`
  return {
    spentSince: ({ accountId, id }, day) =>
      db.read(function* (q) {
        const below = and(eq(keys.accountId, accountId), isUnder(keys, id))
        const theirs = inArray(usageDays.keyId, q.select({ id: keys.id }).from(keys).where(below))
        const since = and(eq(usageDays.accountId, accountId), gte(usageDays.day, day), theirs)
        const sums = { cost: total(usageDays.cost), runs: total(usageDays.runs) }
        const found = yield* first(q.select(sums).from(usageDays).where(since))
        return { cost: BigInt(found?.cost ?? 0), runs: Number(found?.runs ?? 0) }
      }),
  }
}
