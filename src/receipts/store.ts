import { and, asc, desc, eq, gte, inArray, isNotNull, lt } from 'drizzle-orm'
import { type Db, first, rows, update } from '../db/db.ts'
import type { RunRow } from '../db/schema.ts'
import { type Page, type PageRequest, toPage } from '../kernel/page.ts'
import { type Ended, isEnded, runIdOf } from './receipt.ts'

export type ReceiptStore = ReturnType<typeof receiptStore>

/** Receipts, which are the ended runs seen from the side of who checks them. */
export function receiptStore(db: Db) {
  const { runs } = db.tables
  return {
    find: async (id: string): Promise<Ended | undefined> => {
      const named = eq(runs.id, runIdOf(id))
      const run = await db.read((q) => first(q.select().from(runs).where(named)))
      return run && isEnded(run) ? run : undefined
    },
    /** Those of some keys, newest run first; `after` is the id of one of them. */
    list: (keyIds: string[], page: PageRequest): Promise<Page<Ended>> =>
      db.read(function* (q) {
        const listed = and(
          inArray(runs.keyId, keyIds),
          isNotNull(runs.digest),
          page.after === undefined ? undefined : lt(runs.id, runIdOf(page.after)),
        )
        const found = q.select().from(runs).where(listed).orderBy(desc(runs.id))
        const { items, hasMore } = toPage(yield* rows(found.limit(page.limit + 1)), page.limit)
        return { items: items.filter(isEnded), hasMore }
      }),
    /** Numbered receipts from a log index on, in the log's order. */
    numberedFrom: (index: number, limit: number): Promise<RunRow[]> =>
      db.read((q) => {
        const from = q.select().from(runs).where(gte(runs.logIndex, index))
        return rows(from.orderBy(asc(runs.logIndex)).limit(limit))
      }),
    sign: (signed: { id: string; signature: Uint8Array }[]): Promise<void> =>
      db.write(function* () {
        yield* update(runs, signed, ['signature'])
      }),
  }
}
