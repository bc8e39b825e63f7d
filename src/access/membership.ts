/** Checks a membership when a command commits. */
import type { Acting } from '../kernel/acting.ts'
import { refuse } from '../kernel/refusal.ts'
import type { UnitOfWork } from '../ledger/unit-of-work.ts'

/**
 * Checks that the membership of the request still exists, for a command with `people`.
 * @throws Refusal `session_required`
 */
export function assertStillMember(unit: UnitOfWork, { account, member }: Acting): void {
  if (member === undefined) return
  if (unit.people(account).members.some(({ id }) => id === member)) return
  refuse('session_required', 'You are no longer a member of this account. Sign in again.')
}
