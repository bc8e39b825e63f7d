import { and, asc, desc, eq, gte, inArray, isNotNull, lt } from 'drizzle-orm'
import { type Page, type PageRequest, toPage } from '../../kernel/pagination.ts'
import type { Db } from '../../storage/db/db.ts'
import { findFact, writeFact } from '../../storage/db/facts.ts'
import {
  first,
  prepared,
  type Query,
  rows,
  update,
  type Work,
} from '../../storage/db/query-steps.ts'
import type { RunRow } from '../../storage/db/schema.ts'
import { type Ended, isEnded, isErased, receiptIdOf, runIdOf } from './receipt.ts'
import { shownReceipts } from './store/shown-receipt.ts'

export type ReceiptStore = ReturnType<typeof receiptStore>

type Numbered = Pick<RunRow, 'id' | 'logPlace' | 'digest' | 'signature'>

const signedFact = 'receipts.signed'

/** Receipts, which are the ended runs seen from the side of who checks them. */
export function receiptStore(db: Db) {
  const { runs, erasedReceipts } = db.tables
  const { id, logPlace, digest, signature } = runs
  const numbered = { id, logPlace, digest, signature }

  /** Adds to runs whose seed is gone the receipts that were kept of them. */
  function* withErased(q: Query, found: Ended[]): Work<Ended[]> {
    const ids = found.filter(isErased).map(({ id }) => receiptIdOf(id))
    if (ids.length === 0) return found
    const named = inArray(erasedReceipts.receiptId, ids)
    const kept = yield* rows(q.select().from(erasedReceipts).where(named))
    const receiptOf = new Map(kept.map(({ receiptId, receipt }) => [receiptId, receipt]))
    return found.map((run) => {
      const erased = receiptOf.get(receiptIdOf(run.id))
      return erased ? { ...run, erased } : run
    })
  }

  return {
    ...shownReceipts(db),
    find: (id: string): Promise<Ended | undefined> =>
      db.read(function* (q) {
        const run = yield* first(
          q
            .select()
            .from(runs)
            .where(eq(runs.id, runIdOf(id))),
        )
        return (yield* withErased(q, run && isEnded(run) ? [run] : []))[0]
      }),
    /** Those of some keys, newest run first, back to the run `since`; `after` is one of them. */
    list: (keyIds: string[], page: PageRequest, since: string): Promise<Page<Ended>> =>
      db.read(function* (q) {
        const listed = and(
          inArray(runs.keyId, keyIds),
          isNotNull(runs.digest),
          gte(runs.id, since),
          page.after === undefined ? undefined : lt(runs.id, runIdOf(page.after)),
        )
        const found = q.select().from(runs).where(listed).orderBy(desc(runs.id))
        const { items, hasMore } = toPage(yield* rows(found.limit(page.limit + 1)), page.limit)
        return { items: yield* withErased(q, items.filter(isEnded)), hasMore }
      }),
    /** What is signed, and was, of numbered receipts from a place among the leaves on. */
    numberedFrom: (place: number, limit: number): Promise<Numbered[]> =>
      db.read((q) =>
        prepared('receipts.numbered_from', { place, limit }, (values) =>
          q
            .select(numbered)
            .from(runs)
            .where(gte(runs.logPlace, values.place))
            .orderBy(asc(runs.logPlace))
            .limit(values.limit),
        ),
      ),
    sign: (signed: { id: string; signature: Uint8Array }[]): Promise<void> =>
      db.write(function* () {
        yield* update(runs, signed, ['signature'])
      }),
    /** A place before which every receipt is signed, as far as that was noted. */
    signedUpTo: async (): Promise<number> => Number((await findFact(db, signedFact)) ?? 0),
    noteSignedUpTo: (place: number): Promise<void> =>
      db.write(() => writeFact(db, signedFact, String(place))),
  }
}
