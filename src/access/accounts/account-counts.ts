/** How much an account has, and who else one acts for, as pages say around what they show. */
import type { Actor, Membership } from '../../kernel/acting.ts'

/** Runs and keys are counted up to this number. */
export const accountCountMax = 1000

/**
 * Runs that have ended, and keys that are neither revoked nor expired; and the accounts that the
 * wallet is a member of. Runs of a branch are not counted.
 */
export type AccountCounts = {
  runs: number | undefined
  keys: number
  memberships: readonly Membership[]
}

export type AccountCountsStore = {
  /** Counts, and remembers it for the page that is made next. */
  note(acting: Actor, now: number): Promise<void>
  /** The counts as they were last noted. */
  last(acting: Actor): AccountCounts | undefined
}
