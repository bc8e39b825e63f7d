/** Checks a membership when a command commits. */
import type { Acting } from '../kernel/acting.ts'
import { refuse } from '../kernel/refusal.ts'
import type { UnitOfWork } from '../ledger/unit-of-work.ts'

/** The `people` of a command with `assertStillMember`: none where a wallet acts for itself. */
export const peopleOf = (acting: Acting | undefined): true | undefined =>
  acting?.member === undefined ? undefined : true

/**
 * Checks that the membership of the request still exists, for a command with `people`.
 * @throws Refusal `session_required`
 */
export function assertStillMember(unit: UnitOfWork, acting: Acting | undefined): void {
  if (acting?.member === undefined) return
  const { account, member } = acting
  if (unit.people(account).members.some(({ id }) => id === member)) return
  refuse('session_required', 'You are no longer a member of this account. Sign in again.')
}
