import { chainId } from '../chain/chain.ts'
import type { Deps } from '../deps.ts'
import { isLate } from './anchor.ts'

type Needs = Pick<Deps, 'anchors' | 'anchoring' | 'checkpoints' | 'clock' | 'health' | 'logs'>

/** The chain as this process saw it last. */
export function chainStatus({ anchoring, clock, health }: Needs) {
  const { head, headAt, trouble } = health.chain
  const lag = headAt === null ? null : Math.max(0, Math.floor((clock.now() - headAt) / 1000))
  const status = anchoring.chain ? (trouble ?? (head === null ? 'unchecked' : 'ok')) : 'disabled'
  return { id: chainId, head, lag_s: lag, status }
}

/** How far the log is on the chain, and what keeps it from there. */
export async function anchorStatus(deps: Needs) {
  const { anchors, anchoring, checkpoints, clock, health, logs } = deps
  const { origin } = logs.current
  const anchored = (await anchors.newest(origin))?.size ?? 0
  const now = clock.now()
  const oldest = (await checkpoints.firstOver(origin, anchored))?.timestamp
  const waited = oldest === undefined ? null : Math.max(0, Math.floor((now - oldest) / 1000))
  const log = { anchored_size: anchored, oldest_unanchored_s: waited }
  const isDiverged = health.log === 'diverged'
  if (!(await anchoring.isOn())) {
    const status = isDiverged ? ('diverged' as const) : ('disabled' as const)
    // Nobody waits for what does not come.
    const still = { ...log, oldest_unanchored_s: null }
    return { log: still, anchors: { status, lag_s: null }, isDegraded: isDiverged }
  }
  const { trouble, balanceWei, isLow } = health.anchors
  const reason = trouble ?? (isLate(oldest, anchoring.policy, now) ? 'late' : null)
  const isUnguarded = health.log === 'unchecked' && health.chain.trouble !== null
  const status = isDiverged ? 'diverged' : reason || isUnguarded ? 'degraded' : 'ok'
  const sender = {
    address: anchoring.sender?.address ?? null,
    balance_wei: balanceWei === null ? null : String(balanceWei),
    low: isLow,
  }
  const view = { status, reason: reason ?? (isUnguarded ? 'chain_unavailable' : null), sender }
  return { log, anchors: { ...view, lag_s: waited ?? 0 }, isDegraded: status !== 'ok' }
}
