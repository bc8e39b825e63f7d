/** Loads and writes the rows of vouchers and refunds. */
import { and, inArray, sql } from 'drizzle-orm'
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
 * Locks codes, then their batches, each sorted, after the locks of accounts. Two accounts that
 * redeem one code wait for each other in this order, so they cannot deadlock.
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
    yield* loadRefunds(tables, selling, account, refundsOf)
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

/** Refunds read in one step. */
const refundsRead = 16

/**
 * Refunds of a reference are numbered from 1: `run_…/1`, `run_…/2`. Looks them up by equality,
 * because the order of texts depends on the collation of a PostgreSQL database.
 */
function* loadRefunds(
  { transfers }: Tables,
  { refunded }: SellingRows,
  account: string,
  of: string,
): Work<void> {
  let total = 0n
  let count = 0
  for (;;) {
    const ref = Array.from({ length: refundsRead }, (_, i) => `${of}/${count + i + 1}`)
    const found = yield* findRows(transfers, { accountId: [account], ref, kind: ['refund'] })
    for (const { amount } of found) total += amount
    count += found.length
    if (found.length < refundsRead) break
  }
  refunded.set(sellerOf(account, of), { total, count })
}

export function* writeSelling(tables: Tables, { added, written }: SellingRows): Work<void> {
  yield* insert(tables.voucherRedemptions, added)
  yield* update(tables.voucherBatches, [...written], ['redeemed'])
}
