/** Stops the ledger while this server must not write, because of its clock or its schema. */
import type { Refusal } from '../kernel/refusal.ts'
import type { Ledger } from './post.ts'

/**
 * A ledger that refuses commands while `whyNot` gives a reason, except the end or background start
 * of a run, which would strand its hold, and a revocation.
 */
export const guarded = (ledger: Ledger, whyNot: () => Refusal | undefined): Ledger => ({
  post(command) {
    const isAlwaysTaken = command.run !== undefined || command.below !== undefined
    const refusal = isAlwaysTaken ? undefined : whyNot()
    return refusal ? Promise.reject(refusal) : ledger.post(command)
  },
})
