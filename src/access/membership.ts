/** Checks a membership when a command commits. */
import type { Actor } from '../kernel/acting.ts'
import { refuse } from '../kernel/refusal.ts'
import type { PartId } from '../ledger/part.ts'
import type { UnitOfWork } from '../ledger/unit-of-work.ts'
import { peopleOf, peopleRows } from './people-rows.ts'

/** The parts of a command with `assertStillMember`: none where a wallet acts for itself. */
export const membershipOf = (acting: Actor | undefined): PartId[] | undefined =>
  acting?.member === undefined ? undefined : [peopleRows.of(acting.account)]

/**
 * Checks that the membership of the request still exists, for a command with {@link membershipOf}.
 * @throws Refusal `session_required`
 */
export function assertStillMember(unit: UnitOfWork, acting: Actor | undefined): void {
  if (acting?.member === undefined) return
  const { account, member } = acting
  if (peopleOf(unit, account).members.some(({ id }) => id === member)) return
  refuse('session_required', 'You are no longer a member of this account. Sign in again.')
}
