/** An account is a wallet address: stored in lower case, shown in EIP-55's mixed case. */
import type { AccountRow } from '../../storage/db/schema/schema.ts'

/** Reads accounts; the ledger opens and changes them. */
export type Accounts = {
  find(id: string): Promise<AccountRow | undefined>
  /** The suspended accounts among these: their runs in flight have to stop. */
  suspendedAmong(ids: string[]): Promise<{ id: string }[]>
}

export const toAccountId = (address: string): string => address.toLowerCase()

/**
 * The first 20 bytes of SHA-256("counterfoil terminal"). No key is known that signs for it, and
 * finding one is as hard as for any other address, so nothing can sign in as the sponsor.
 */
export const sponsorAccount = '0x17abdb3907ee6d71525714b1a66576d4c7906d7f'
