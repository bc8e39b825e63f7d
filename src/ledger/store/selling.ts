/** Loads and writes the rows of vouchers and refunds. */
import { and, eq, gte, inArray, lt, sql } from 'drizzle-orm'
import {
  findRows,
  insert,
  lockFound,
  type Query,
  rows,
  update,
  type Work,
} from '../../storage/db/query-steps.ts'
import type { Tables } from '../../storage/db/schema.ts'
import type { Command } from '../command.ts'
import { type SellingRows, sellerOf, sellingRows } from '../selling-rows.ts'
import type { TrackedRows } from '../unit-of-work.ts'

/**
 * Locks codes, then their batches, each in order: accounts are locked before, so that two accounts
 * with one code come one after the other, and none waits for the other in a circle.
 */
export function* loadSelling(
  q: Query,
  tables: Tables,
  tracked: TrackedRows,
  commands: readonly Command<unknown>[],
): Work<void> {
  const redeeming = commands.filter(({ voucher }) => voucher !== undefined)
  const refunding = commands.filter(({ refundsOf }) => refundsOf !== undefined)
  if (redeeming.length === 0 && refunding.length === 0) return
  const selling = sellingRows()
  tracked.selling = selling
  yield* loadVouchers(q, tables, selling, redeeming)
  for (const { account, refundsOf = '' } of refunding) {
    yield* loadRefunds(q, tables, selling, account, refundsOf)
  }
}

function* loadVouchers(
  q: Query,
  { voucherCodes, voucherBatches, voucherRedemptions }: Tables,
  { codes, batches, redemptions, redeemed }: SellingRows,
  commands: readonly Command<unknown>[],
): Work<void> {
  const hash = [...new Set(commands.flatMap(({ voucher }) => voucher ?? []))].sort()
  for (const row of yield* lockFound(voucherCodes, { hash })) codes.set(row.hash, row)
  const id = [...new Set([...codes.values()].map(({ batchId }) => batchId))].sort()
  for (const row of yield* lockFound(voucherBatches, { id })) batches.set(row.id, row)
  for (const row of yield* findRows(voucherRedemptions, { hash })) redemptions.set(row.hash, row)
  const { accountId, batchId } = voucherRedemptions
  const limited = [...batches.values()].filter(({ perAccount }) => perAccount !== null)
  if (limited.length === 0) return
  const accounts = [...new Set(commands.map(({ account }) => account))]
  const whose = inArray(accountId, accounts)
  const named = and(
    inArray(
      batchId,
      limited.map((batch) => batch.id),
    ),
    whose,
  )
  const n = sql<number>`cast(count(*) as integer)`
  const counted = q.select({ accountId, batchId, n }).from(voucherRedemptions).where(named)
  for (const one of yield* rows(counted.groupBy(accountId, batchId))) {
    redeemed.set(sellerOf(one.accountId, one.batchId), Number(one.n))
  }
}

/** Refunds are named after what they are of: `run_…/1`, `run_…/2`. */
function* loadRefunds(
  q: Query,
  { transfers }: Tables,
  { refunded }: SellingRows,
  account: string,
  ref: string,
): Work<void> {
  // "0" sorts right after "/".
  const within = and(gte(transfers.ref, `${ref}/`), lt(transfers.ref, `${ref}0`))
  const own = and(eq(transfers.accountId, account), eq(transfers.kind, 'refund'), within)
  const found = yield* rows(q.select({ amount: transfers.amount }).from(transfers).where(own))
  const total = found.reduce((sum, { amount }) => sum + amount, 0n)
  refunded.set(sellerOf(account, ref), { total, count: found.length })
}

export function* writeSelling(tables: Tables, { added, written }: SellingRows): Work<void> {
  yield* insert(tables.voucherRedemptions, added)
  yield* update(tables.voucherBatches, [...written], ['redeemed'])
}
