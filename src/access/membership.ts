/** Makes sure that a member still is one when a command commits. */
import type { Acting } from '../kernel/acting.ts'
import { refuse } from '../kernel/refusal.ts'
import type { UnitOfWork } from '../ledger/unit-of-work.ts'

/**
 * Makes sure that a membership still is what a request began with, for a command with `people`.
 * @throws Refusal `session_required`
 */
export function assertStillMember(unit: UnitOfWork, { account, member }: Acting): void {
  if (member === undefined) return
  if (unit.people(account).members.some(({ id }) => id === member)) return
  refuse('session_required', 'You are no longer a member of this account. Sign in again.')
}
