import { wrongClock } from '../kernel/skew.ts'
import type { LeaseClock } from '../storage/db/lease-clock.ts'
import type { Ledger } from './post.ts'

/**
 * The ledger of a server whose clock may be wrong. While it is, every command is refused except the
 * end (or background start) of a run that began, so that no hold is stranded, and a revocation.
 * @throws Refusal `unavailable` with the reason `clock`
 */
export const clockGuarded = (ledger: Ledger, clock: Pick<LeaseClock, 'aheadMs'>): Ledger => ({
  post(command) {
    const isAlwaysTaken = command.run !== undefined || command.below !== undefined
    const refusal = isAlwaysTaken ? undefined : wrongClock(clock.aheadMs())
    return refusal ? Promise.reject(refusal) : ledger.post(command)
  },
})
