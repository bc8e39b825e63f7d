/** The reference of a deposit in the journal, derived from its transfer on the chain. */
import type { DepositRow } from '../storage/db/schema/schema.ts'

/** The identity of a transfer on the chain. */
export type TransferIdentity = Pick<
  DepositRow,
  'chainId' | 'txHash' | 'token' | 'from' | 'tokenAmount' | 'ordinal'
>

/**
 * `chain/transaction/token/sender/units/ordinal`. It depends on the transfer alone, not on the row
 * or the log index, so a transfer always has the same reference and is credited once.
 */
export const depositRef = (of: TransferIdentity): string =>
  [of.chainId, of.txHash, of.token, of.from, of.tokenAmount, of.ordinal].join('/')

/** The reference of the newest credit of a deposit: after a reversal, `…/2` is the second one. */
export function creditRef(row: TransferIdentity & Pick<DepositRow, 'credits'>): string {
  const ref = depositRef(row)
  return row.credits <= 1 ? ref : `${ref}/${row.credits}`
}

/** The part of a journal reference that {@link depositRef} made. */
export const depositOfRef = (ref: string): string => ref.split('/').slice(0, 6).join('/')
