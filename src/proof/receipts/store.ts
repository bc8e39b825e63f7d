/** Stores receipts, which are ended runs, and their signatures. */
import { and, asc, desc, eq, gte, inArray, lt } from 'drizzle-orm'
import { toPage } from '../../kernel/pagination.ts'
import type { Db } from '../../storage/db/engine/db.ts'
import { runColumns } from '../../storage/db/schema/run-columns.ts'
import { findFact, writeFact } from '../../storage/db/sql/facts.ts'
import { numbered, numberedRuns } from '../../storage/db/sql/numbered-runs.ts'
import {
  first,
  prepared,
  type Query,
  rows,
  upsert,
  type Work,
} from '../../storage/db/sql/query-steps.ts'
import { signatureRows } from '../../storage/db/sql/signatures.ts'
import { type Ended, isErased, receiptIdOf, runIdOf } from './receipt.ts'
import type { ReceiptStore } from './receipts.ts'
import { shownReceipts } from './store/shown-receipt.ts'

const signedFact = 'receipts.signed'

export function receiptStore(db: Db): ReceiptStore {
  const { runs, receiptSignatures, erasedReceipts } = db.tables
  const columns = runColumns(db)
  const { digest, signature } = runColumns(db, numbered.place)
  const logged = { place: numbered.place, digest, signature }

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
    find: (id) =>
      db.read(function* (q) {
        const run = yield* first(
          q
            .select(columns)
            .from(runs)
            .where(eq(runs.id, runIdOf(id))),
        )
        return (yield* withErased(q, run ? [run] : []))[0]
      }),
    list: (keyIds, page, since) =>
      db.read(function* (q) {
        const listed = and(
          inArray(runs.keyId, keyIds),
          gte(runs.id, since),
          page.after === undefined ? undefined : lt(runs.id, runIdOf(page.after)),
        )
        const found = q.select(columns).from(runs).where(listed).orderBy(desc(runs.id))
        const { items, hasMore } = toPage(yield* rows(found.limit(page.limit + 1)), page.limit)
        return { items: yield* withErased(q, items), hasMore }
      }),
    numberedFrom: (place, limit) =>
      db.read((q) =>
        prepared('receipts.numbered_from', { place, limit }, (values) =>
          q
            .select(logged)
            .from(numberedRuns({ from: values.place, limit: values.limit }))
            .innerJoin(runs, eq(runs.id, numbered.runId))
            .orderBy(asc(numbered.place)),
        ),
      ),
    sign: (signed) =>
      db.write(function* () {
        // Keeps signatures that another node stored meanwhile. A gap is signed at its first read.
        yield* upsert(receiptSignatures, signatureRows(signed), [])
      }),
    signedUpTo: async () => Number((await findFact(db, signedFact)) ?? 0),
    noteSignedUpTo: (place) => db.write(() => writeFact(db, signedFact, String(place))),
  }
}
