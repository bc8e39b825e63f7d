/** Stops the ledger while the clock of this server is wrong. */
import { wrongClock } from '../kernel/skew.ts'
import type { LeaseClock } from '../storage/db/lease-clock.ts'
import type { Ledger } from './post.ts'

/**
 * A ledger that refuses commands (`unavailable`, reason `clock`) while the clock is wrong, except
 * the end or background start of a run, which would strand its hold, and a revocation.
 */
export const clockGuarded = (ledger: Ledger, clock: Pick<LeaseClock, 'aheadMs'>): Ledger => ({
  post(command) {
    const isAlwaysTaken = command.run !== undefined || command.below !== undefined
    const refusal = isAlwaysTaken ? undefined : wrongClock(clock.aheadMs())
    return refusal ? Promise.reject(refusal) : ledger.post(command)
  },
})
