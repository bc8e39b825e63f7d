import { and, asc, desc, eq, gte, inArray, lt } from 'drizzle-orm'
import { type Db, first, rows, update } from '../db/db.ts'
import type { ReceiptRow } from '../db/schema.ts'
import { type Page, type PageRequest, toPage } from '../kernel/page.ts'

export type ReceiptStore = ReturnType<typeof receiptStore>

export function receiptStore(db: Db) {
  const { receipts } = db.tables
  return {
    find: (id: string): Promise<ReceiptRow | undefined> =>
      db.read((q) => first(q.select().from(receipts).where(eq(receipts.id, id)))),
    /** Newest first; `after` must be one of them. */
    list: (account: string, keyIds: string[], page: PageRequest): Promise<Page<ReceiptRow>> =>
      db.read(function* (q) {
        const mine = and(eq(receipts.accountId, account), inArray(receipts.keyId, keyIds))
        const older = page.after === undefined ? mine : and(mine, lt(receipts.id, page.after))
        const found = q.select().from(receipts).where(older).orderBy(desc(receipts.id))
        return toPage(yield* rows(found.limit(page.limit + 1)), page.limit)
      }),
    /** Numbered receipts from a log index on, in the log's order. */
    numberedFrom: (index: number, limit: number): Promise<ReceiptRow[]> =>
      db.read((q) => {
        const from = q.select().from(receipts).where(gte(receipts.logIndex, index))
        return rows(from.orderBy(asc(receipts.logIndex)).limit(limit))
      }),
    sign: (signed: { id: string; signature: Uint8Array }[]): Promise<void> =>
      db.write(function* () {
        yield* update(receipts, signed, ['signature'])
      }),
  }
}
