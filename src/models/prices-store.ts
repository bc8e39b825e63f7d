import { desc, eq } from 'drizzle-orm'
import { type Db, first, insert } from '../db/db.ts'
import type { LogStore } from '../log/store.ts'

/**
 * The version of a price list: the last one, if the prices are still the same, else a new one.
 * Every version that was ever charged stays, and is in the log before a receipt can name it: at
 * once, or before the first receipt where the log is still empty.
 */
export function settlePriceList(
  db: Db,
  log: LogStore,
  list: { id: string; digest: string; content: string },
  now: number,
): Promise<number> {
  const { priceLists } = db.tables
  return log.change(function* (q, { appendPrices }) {
    const last = yield* first(
      q
        .select()
        .from(priceLists)
        .where(eq(priceLists.id, list.id))
        .orderBy(desc(priceLists.version))
        .limit(1),
    )
    const isSame = last?.digest === list.digest
    const version = isSame ? last.version : (last?.version ?? 0) + 1
    if (!isSame) yield* insert(priceLists, [{ ...list, version, createdAt: now, logPlace: null }])
    if (!isSame || last.logPlace === null) yield* appendPrices()
    return version
  })
}
