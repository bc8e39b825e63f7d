/** The rows that voucher and refund commands of a batch read and change. */
import type { Nusd } from '../kernel/money.ts'
import type { RedemptionRow, VoucherBatchRow, VoucherCodeRow } from '../storage/db/schema.ts'

/** The refunds of a run or a deposit: their sum and their number. */
export type Refunded = { total: Nusd; count: number }

/** Loaded rows by id, and the changes that the store writes. */
export type SellingRows = {
  /** By hash. */
  codes: Map<string, VoucherCodeRow>
  redemptions: Map<string, RedemptionRow>
  batches: Map<string, VoucherBatchRow>
  /** Redemptions of a batch by an account, by {@link sellerOf}. */
  redeemed: Map<string, number>
  /** Refunds of a run or deposit to an account, by {@link sellerOf}. */
  refunded: Map<string, Refunded>
  added: RedemptionRow[]
  written: Set<VoucherBatchRow>
}

export const sellingRows = (): SellingRows => ({
  codes: new Map(),
  redemptions: new Map(),
  batches: new Map(),
  redeemed: new Map(),
  refunded: new Map(),
  added: [],
  written: new Set(),
})

/** The key of an account's redemptions of a batch, or of its refunds of a reference. */
export const sellerOf = (account: string, of: string): string => `${account} ${of}`

/** The refunds of a run or a deposit so far, for a command with `refundsOf`. */
export const refundedOf = (
  unit: { selling(): SellingRows },
  account: string,
  ref: string,
): Refunded => unit.selling().refunded.get(sellerOf(account, ref)) ?? { total: 0n, count: 0 }
