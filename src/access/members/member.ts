/** Members: wallets that may act for an account of another wallet. */
import type { Millis } from '../../kernel/clock.ts'
import type { InvitationRow, MemberRow } from '../../storage/db/schema/schema.ts'

/** The most members, and the most open invitations, that an account has at a time. */
export const peopleMax = 100
/** The most accounts that a wallet is a member of. */
export const membershipsMax = 100
export const invitationLifeMs = 7 * 86_400_000

/** Reads members and invitations. Commands of the ledger write them. */
export type Members = {
  /** The members of an account, the oldest first. */
  list(account: string): Promise<MemberRow[]>
  /** The membership of a wallet in an account. */
  find(account: string, wallet: string): Promise<MemberRow | undefined>
  /** How many accounts a wallet is a member of. */
  countOf(wallet: string): Promise<number>
  /** The open invitations of an account that have not expired, the newest first. */
  invitations(account: string, now: Millis): Promise<InvitationRow[]>
  /** The invitation of a token's hash; it may have expired. */
  invitation(tokenHash: string): Promise<InvitationRow | undefined>
}
