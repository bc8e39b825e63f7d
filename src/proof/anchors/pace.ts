import type { Deps } from '../../app/deps-port.ts'
import { keepAnchored } from './publish.ts'

/** Between looks at the chain while something is on its way, and at most otherwise, in ms. */
const busyMs = 2000
const idleMs = 15_000

/**
 * The worker as a job that is called every second: it asks the chain seldom while there is nothing
 * to do, and at once when somebody asked for an anchor.
 */
export function anchorWorker(
  deps: Parameters<typeof keepAnchored>[0] & Pick<Deps, 'chain'>,
): () => Promise<void> {
  const { anchors, anchoring, clock, health } = deps
  const calmMs = Math.min(idleMs, Math.max(1000, anchoring.policy.minIntervalMs / 4))
  let restsUntil = Number.NEGATIVE_INFINITY
  let wantedAt: number | undefined

  const isWanted = async (): Promise<boolean> => {
    const before = wantedAt
    wantedAt = await anchors.wantedAt()
    return wantedAt !== before
  }

  return async () => {
    if (!deps.chain) return
    const wanted = await isWanted()
    if (clock.monotonic() < restsUntil && !wanted) return
    await keepAnchored(deps)
    // What cannot be sent is not tried every other second.
    const isStopped = health.anchors.trouble !== null || health.chain.trouble !== null
    const open = isStopped ? [] : await anchors.open()
    const isBusy = open.some(({ status }) => status !== 'confirmed')
    restsUntil = clock.monotonic() + (isBusy ? busyMs : calmMs)
  }
}
