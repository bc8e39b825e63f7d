/** Runs the anchor worker at the right pace: fast while something is pending, slow otherwise. */
import type { Deps } from '../../app/deps-port.ts'
import { keepAnchored } from './publish.ts'

/** The pause between passes while a transaction is pending, and the longest otherwise, in ms. */
const busyMs = 2000
const idleMs = 15_000

/** A job to call every second. A requested anchor is handled at once. */
export function anchorWorker(deps: Deps): () => Promise<void> {
  const { anchors, anchoring, clock, health } = deps
  const calmMs = Math.min(idleMs, Math.max(1000, anchoring.policy.minIntervalMs / 4))
  let pausedUntil = Number.NEGATIVE_INFINITY
  let wantedAt: number | undefined

  const isWanted = async (): Promise<boolean> => {
    const before = wantedAt
    wantedAt = await anchors.wantedAt()
    return wantedAt !== before
  }

  return async () => {
    if (!deps.chain) return
    const wanted = await isWanted()
    if (clock.monotonic() < pausedUntil && !wanted) return
    await keepAnchored(deps)
    // While sending is blocked, the slow pace is enough.
    const isStopped = health.anchors.trouble !== null || health.chain.trouble !== null
    const open = isStopped ? [] : await anchors.open()
    const isBusy = open.some(({ status }) => status !== 'confirmed')
    pausedUntil = clock.monotonic() + (isBusy ? busyMs : calmMs)
  }
}
