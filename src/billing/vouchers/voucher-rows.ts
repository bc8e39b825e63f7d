/** The vouchers that commands of the ledger redeem. */
import { and, inArray, sql } from 'drizzle-orm'
import { definePart, type PartStore } from '../../ledger/part.ts'
import type {
  RedemptionRow,
  VoucherBatchRow,
  VoucherCodeRow,
} from '../../storage/db/schema/schema.ts'
import {
  findRows,
  insert,
  lockFound,
  rows,
  update,
  type Work,
} from '../../storage/db/sql/query-steps.ts'

export type VoucherRows = {
  /** By hash. */
  codes: Map<string, VoucherCodeRow>
  redemptions: Map<string, RedemptionRow>
  batches: Map<string, VoucherBatchRow>
  /** Redemptions of a batch by an account, by {@link redeemerOf}. */
  redeemed: Map<string, number>
  added: RedemptionRow[]
  written: Set<VoucherBatchRow>
}

export const redeemerOf = (account: string, batch: string): string => `${account} ${batch}`

/** The hash of a voucher, and the account that redeems it. */
type VoucherId = { account: string; hash: string }

/**
 * Locks codes, then their batches, each sorted. Two accounts that redeem one code wait for each
 * other in this order, so they cannot deadlock.
 */
export const voucherRows = definePart({
  name: 'vouchers',
  rank: 20,
  empty: (): VoucherRows => ({
    codes: new Map(),
    redemptions: new Map(),
    batches: new Map(),
    redeemed: new Map(),
    added: [],
    written: new Set(),
  }),
  *load(store, loaded, ids: readonly VoucherId[]) {
    const { codes, redemptions, batches } = loaded
    const { voucherCodes, voucherBatches, voucherRedemptions } = store.tables
    const hash = [...new Set(ids.map((each) => each.hash))].sort()
    for (const row of yield* lockFound(voucherCodes, { hash })) codes.set(row.hash, row)
    const id = [...new Set([...codes.values()].map(({ batchId }) => batchId))].sort()
    for (const row of yield* lockFound(voucherBatches, { id })) batches.set(row.id, row)
    for (const row of yield* findRows(voucherRedemptions, { hash })) redemptions.set(row.hash, row)
    yield* countRedeemed(store, loaded, [...new Set(ids.map(({ account }) => account))])
  },
  *write({ tables }, { added, written }) {
    yield* insert(tables.voucherRedemptions, added)
    yield* update(tables.voucherBatches, [...written], ['redeemed'])
  },
})

/** Counts the redemptions of the batches that limit them per account. */
function* countRedeemed(
  { q, tables: { voucherRedemptions } }: PartStore,
  { batches, redeemed }: VoucherRows,
  accounts: string[],
): Work<void> {
  const { accountId, batchId } = voucherRedemptions
  const limited = [...batches.values()].filter(({ perAccount }) => perAccount !== null)
  if (limited.length === 0) return
  const ids = limited.map(({ id }) => id)
  const named = and(inArray(batchId, ids), inArray(accountId, accounts))
  const n = sql<number>`cast(count(*) as integer)`
  const counted = q.select({ accountId, batchId, n }).from(voucherRedemptions).where(named)
  for (const one of yield* rows(counted.groupBy(accountId, batchId))) {
    redeemed.set(redeemerOf(one.accountId, one.batchId), Number(one.n))
  }
}
