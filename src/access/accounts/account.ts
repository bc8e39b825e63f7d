/** An account is a wallet address: stored in lower case, shown in EIP-55's mixed case. */
import type { AccountRow } from '../../storage/db/schema.ts'

/** Reads accounts; the ledger opens and changes them. */
export type Accounts = {
  find(id: string): Promise<AccountRow | undefined>
  /** Those of these accounts that are suspended: the runs in flight are checked with it. */
  suspendedAmong(ids: string[]): Promise<{ id: string }[]>
}

export const toAccountId = (address: string): string => address.toLowerCase()
