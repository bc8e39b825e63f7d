/** An account is a wallet address: stored in lower case, shown in EIP-55's mixed case. */
import type { AccountRow } from '../../storage/db/schema.ts'

/** Reads accounts; the ledger opens and changes them. */
export type Accounts = {
  find(id: string): Promise<AccountRow | undefined>
  /** Those of these accounts that are suspended: the runs in flight are checked with it. */
  suspendedAmong(ids: string[]): Promise<{ id: string }[]>
}

/** Whether a text has the form of an address; its checksum is not checked. */
export const isAddress = (text: string): boolean => /^0x[0-9a-fA-F]{40}$/.test(text)

export const toAccountId = (address: string): string => address.toLowerCase()
