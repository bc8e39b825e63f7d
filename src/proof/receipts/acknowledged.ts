/** Remembers the newest runs this process settled, to name those that a restored database lost. */
import type { Millis } from '../../kernel/clock.ts'
import type { Nusd } from '../../kernel/money.ts'

/** A run whose end this process committed, as far as its client was told. */
export type Acknowledgement = { runId: string; digest: Uint8Array; cost: Nusd; at: Millis }

/**
 * The newest ends of runs that this process committed, oldest first: what it can still name after
 * its database went back to an earlier state. At most {@link rememberedMax}, in memory alone.
 */
export type AcknowledgedRuns = {
  add(ended: Acknowledgement): void
  all(): Acknowledgement[]
}

/** About 3 MiB; half a minute of what one node does under full load. */
const rememberedMax = 10_000

export function makeAcknowledged(max = rememberedMax): AcknowledgedRuns {
  const ring: Acknowledgement[] = []
  let next = 0
  return {
    add(ended) {
      ring[next] = ended
      next = (next + 1) % max
    },
    all: () => [...ring.slice(next), ...ring.slice(0, next)],
  }
}
