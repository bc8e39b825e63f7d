import { desc, eq } from 'drizzle-orm'
import { type Db, first, insert } from '../db/db.ts'

/**
 * The version of a price list: the last one, if the prices are still the same, else a new one.
 * Every version that was ever charged stays.
 */
export function settlePriceList(
  db: Db,
  list: { id: string; digest: string; content: string },
  now: number,
): Promise<number> {
  const { priceLists } = db.tables
  return db.write(function* (q) {
    const last = yield* first(
      q
        .select()
        .from(priceLists)
        .where(eq(priceLists.id, list.id))
        .orderBy(desc(priceLists.version))
        .limit(1),
    )
    if (last?.digest === list.digest) return last.version
    const version = (last?.version ?? 0) + 1
    yield* insert(priceLists, [{ ...list, version, createdAt: now, logPlace: null }])
    return version
  })
}
