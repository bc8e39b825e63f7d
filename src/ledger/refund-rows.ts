/** The refunds of runs and deposits so far, for commands that refund or move more of them. */
import type { Nusd } from '../kernel/money.ts'
import { findRows, type Work } from '../storage/db/sql/query-steps.ts'
import { definePart, type PartStore } from './part.ts'
import type { UnitOfWork } from './unit-of-work.ts'

/** The refunds of a run or a deposit: their sum and their number. */
export type RefundTotal = { total: Nusd; count: number }

/** A run or a deposit, and the account that it is refunded to. */
type RefundId = { account: string; ref: string }

/** Refunds read in one step. */
const refundsRead = 16

/** The journal alone has them, under the lock of their account. */
export const refundRows = definePart({
  name: 'refunds',
  rank: 25,
  empty: () => new Map<string, RefundTotal>(),
  *load(store, refunds, ids: readonly RefundId[]) {
    for (const id of ids) refunds.set(nameOf(id), yield* readRefunds(store, id))
  },
})

const nameOf = ({ account, ref }: RefundId): string => `${account} ${ref}`

/**
 * Refunds of a reference are numbered from 1: `run_…/1`, `run_…/2`. Looks them up by equality,
 * because the order of texts depends on the collation of a PostgreSQL database.
 */
function* readRefunds(
  { tables: { transfers } }: PartStore,
  { account, ref: of }: RefundId,
): Work<RefundTotal> {
  let total = 0n
  let count = 0
  for (;;) {
    const ref = Array.from({ length: refundsRead }, (_, i) => `${of}/${count + i + 1}`)
    const found = yield* findRows(transfers, { accountId: [account], ref, kind: ['refund'] })
    for (const { amount } of found) total += amount
    count += found.length
    if (found.length < refundsRead) return { total, count }
  }
}

/** The refunds of a run or a deposit so far. @throws Error if the command did not name it */
export function refundedOf(unit: UnitOfWork, id: RefundId): RefundTotal {
  const refunded = unit.part(refundRows).get(nameOf(id))
  if (!refunded) throw new Error(`the refunds of ${id.ref} were not loaded`)
  return refunded
}

/** Later commands of the batch see another refund, whose transfer the caller adds. */
export function noteRefunded(unit: UnitOfWork, id: RefundId, refunded: RefundTotal): void {
  unit.part(refundRows).set(nameOf(id), refunded)
}
