/** Stores the versions of price lists, each in the log before a receipt can name it. */
import { desc, eq } from 'drizzle-orm'
import type { Db } from '../../../storage/db/engine/db.ts'
import { first, rows } from '../../../storage/db/sql/query-steps.ts'
import type { LogStore } from '../store.ts'

/**
 * Returns the version of a price list: the last one if the prices are unchanged, else a new one.
 * It is logged at once, or before the first receipt if the log is still empty.
 */
export function ensurePriceList(
  db: Db,
  log: LogStore,
  list: { id: string; digest: string; content: string },
  now: number,
): Promise<number> {
  const { priceLists } = db.tables
  return log.change(function* (q, { appendPrices }) {
    for (;;) {
      const last = yield* first(
        q
          .select()
          .from(priceLists)
          .where(eq(priceLists.id, list.id))
          .orderBy(desc(priceLists.version))
          .limit(1),
      )
      if (last?.digest === list.digest) {
        if (last.logPlace === null) yield* appendPrices()
        return last.version
      }
      const row = { ...list, version: (last?.version ?? 0) + 1, createdAt: now, logPlace: null }
      const [added] = yield* rows(
        q.insert(priceLists).values(row).onConflictDoNothing().returning(),
      )
      // A concurrent start added this version: it is the last one now.
      if (!added) continue
      yield* appendPrices()
      return added.version
    }
  })
}
