/** Decides when the nodes that may know more of the log had the time to say so. */
import type { Clock, Millis } from '../../kernel/clock.ts'

/** The least time that a node listens to others, in ms. */
export const hearMs = 2000
/** How long after it renewed its lease a node has certainly compared what it knows, in ms. */
const comparedMs = 1000

/**
 * Returns a question to ask again until it is true: whether each node that counted as alive has
 * renewed its lease on this database since, and so compared its heads with it, or is no longer
 * alive. One that is away for a moment is waited for until its lease ends.
 * @param leases when the lease of each live node ends, by its name
 */
export function hearing(
  clock: Pick<Clock, 'monotonic'>,
  leases: () => Promise<ReadonlyMap<string, Millis>>,
): () => Promise<boolean> {
  const since = clock.monotonic()
  const renewedAt = new Map<string, number>()
  let first: ReadonlyMap<string, Millis> | undefined
  return async () => {
    const alive = await leases()
    first ??= alive
    const now = clock.monotonic()
    let areHeard = now - since >= hearMs
    for (const [node, endsAt] of alive) {
      const isRenewed = first.get(node) !== endsAt
      if (isRenewed && !renewedAt.has(node)) renewedAt.set(node, now)
      if (now - (renewedAt.get(node) ?? now) < comparedMs) areHeard = false
    }
    return areHeard
  }
}
