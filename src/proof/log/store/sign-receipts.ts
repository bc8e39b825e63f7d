/** Signs logged receipts in the transaction that ends the range of a key. */
import { and, asc, eq, gte, isNull, lt } from 'drizzle-orm'
import type { Db } from '../../../storage/db/engine/db.ts'
import { signatureAt } from '../../../storage/db/schema/run-columns.ts'
import { numbered, numberedRuns } from '../../../storage/db/sql/numbered-runs.ts'
import { type Query, rows, upsert, type Work } from '../../../storage/db/sql/query-steps.ts'
import { signatureRows } from '../../../storage/db/sql/signatures.ts'

/** Places of the log: `from` ≤ place < `before`. */
type Span = { from: number; before: number }

type ReceiptChoice = 'unsigned' | 'all'

/** Places read in one step. */
const pagePlaces = 500

/** Signs the receipts at these places: all of them again, or the unsigned ones. */
export function* signReceipts(
  db: Db,
  q: Query,
  { which, ...span }: Span & { which: ReceiptChoice },
  signer: { sign(digest: Uint8Array): Uint8Array },
): Work<void> {
  for (const page of pagesOf(span)) {
    if (which === 'all') {
      // A row of before would otherwise win where it begins after one of these.
      const { place } = db.tables.receiptSignatures
      const old = and(gte(place, page.from), lt(place, page.before))
      yield* rows(q.delete(db.tables.receiptSignatures).where(old).returning())
    }
    const signed = (yield* readPage(db, q, page, which)).map(({ place, digest }) => {
      return { place, signature: signer.sign(digest) }
    })
    // Another node may have signed the same page meanwhile.
    yield* upsert(db.tables.receiptSignatures, signatureRows(signed), ['signature'])
  }
}

/** The first of these places with a receipt that was never signed. */
export function* firstUnsigned(db: Db, q: Query, span: Span): Work<number | undefined> {
  for (const page of pagesOf(span)) {
    const [first] = yield* readPage(db, q, page, 'unsigned')
    if (first) return first.place
  }
  return undefined
}

function* pagesOf({ from, before }: Span): Generator<Span> {
  for (let at = from; at < before; at += pagePlaces) {
    yield { from: at, before: Math.min(at + pagePlaces, before) }
  }
}

function readPage(db: Db, q: Query, page: Span, which: ReceiptChoice) {
  const { runs } = db.tables
  const { place, runId } = numbered
  const unsigned = which === 'unsigned' ? isNull(signatureAt(place)) : undefined
  return rows(
    q
      .select({ place, digest: runs.digest })
      .from(numberedRuns(page))
      .innerJoin(runs, eq(runs.id, runId))
      .where(unsigned)
      .orderBy(asc(place)),
  )
}
