/** Writes ended runs as the ledger and the log leave them, many at once. */
import { asc, eq, isNull } from 'drizzle-orm'
import { toStored, waitingOf } from '../src/ledger/store/write.ts'
import type { Appending, logStore } from '../src/proof/log/store.ts'
import type { Db } from '../src/storage/db/engine/db.ts'
import { signatureAt } from '../src/storage/db/schema/run-columns.ts'
import type { EndedRun, TransferRow } from '../src/storage/db/schema/schema.ts'
import { numbered, numberedRuns } from '../src/storage/db/sql/numbered-runs.ts'
import { insert, rows, type Work } from '../src/storage/db/sql/query-steps.ts'
import { signatureRows } from '../src/storage/db/sql/signatures.ts'
import { leafKinds } from '../src/verify/merkle.ts'

/** The number, the time and the balance of a run's charge. */
export type Charge = Pick<TransferRow, 'ref' | 'at' | 'seq' | 'balance'>

/** Runs that wait for their places, with the charges of those that cost something. */
export function* insertEnded(
  { tables }: Pick<Db, 'tables'>,
  runs: readonly EndedRun[],
  charges: readonly Charge[] = [],
): Work<void> {
  const byRun = new Map(charges.map((charge) => [charge.ref, charge]))
  yield* insert(
    tables.runs,
    runs.map((run) => toStored({ ...run, logPlace: null }, byRun.get(run.id))),
  )
  const unplaced = runs.map((run) => ({ ...run, logPlace: null }))
  yield* insert(tables.unnumberedBatches, waitingOf(unplaced))
}

/**
 * Runs with their places and blank signatures, in one transaction: as they stand once they were
 * numbered and signed, without the rows in which they waited.
 */
export function* insertNumbered(
  { tables, exclusive }: Pick<Db, 'tables' | 'exclusive'>,
  log: Appending,
  runs: readonly EndedRun[],
  charges: readonly (Charge | undefined)[],
): Work<{ place: number }> {
  const { place } = yield* log.append(() =>
    runs.map(({ id, digest }) => ({ kind: leafKinds.receipt, digest, runId: id })),
  )
  const places = exclusive ? runs.map((_, i) => place + i) : []
  const stored = runs.map((run, i) => toStored({ ...run, logPlace: places[i] ?? null }, charges[i]))
  yield* insert(tables.runs, stored)
  const signed = runs.map((_, i) => ({ place: place + i, signature: blank }))
  yield* insert(tables.receiptSignatures, signatureRows(signed))
  return { place }
}

/** Gives all that wait their places, and each receipt a blank signature. */
export async function numberEnded(db: Db, log: ReturnType<typeof logStore>): Promise<void> {
  for (;;) {
    const lease = await log.takeLease()
    if (!lease || (await log.number(lease, batch)) === 0) break
  }
  await signBlankly(db)
}

const batch = 1000
const blank = new Uint8Array(65)

/** Signs all receipts that have none, so that no server spends time on it. */
export async function signBlankly(db: Db): Promise<void> {
  const { receiptSignatures: signatures } = db.tables
  for (let from = 0; ; ) {
    const page = await db.write(function* (q) {
      const listed = q
        .select({ place: numbered.place })
        .from(numberedRuns({ from, limit: batch }))
        .innerJoin(db.tables.runs, eq(db.tables.runs.id, numbered.runId))
        .where(isNull(signatureAt(numbered.place)))
        .orderBy(asc(numbered.place))
      const found = yield* rows(listed)
      yield* insert(
        signatures,
        signatureRows(found.map(({ place }) => ({ place, signature: blank }))),
      )
      return found
    })
    if (page.length === 0) return
    from = (page.at(-1)?.place ?? 0) + 1
  }
}
