/** The state of the chain and of the anchors, for `/v1/status`. */
import type { Deps } from '../../app/deps-port.ts'
import { chainId } from '../../kernel/chain.ts'
import type { Millis } from '../../kernel/clock.ts'
import { isDiverged } from '../log/divergence.ts'
import { isLate } from './anchor.ts'

type StatusDeps = Pick<Deps, 'anchoring' | 'clock' | 'health'>
type AnchoredDeps = Pick<Deps, 'anchors' | 'anchoring' | 'checkpoints' | 'logs'>

/** The chain as this process last saw it. */
export function chainStatus({ anchoring, clock, health }: StatusDeps) {
  const { head, headAt, trouble } = health.chain
  const lag = headAt === null ? null : Math.max(0, Math.floor((clock.now() - headAt) / 1000))
  const status = anchoring.chain ? (trouble ?? (head === null ? 'unchecked' : 'ok')) : 'disabled'
  return { id: chainId, head, lag_s: lag, status }
}

/** How far the log is anchored, from the database. */
export type Anchored = { size: number; oldest: Millis | undefined; isOn: boolean }

export async function readAnchored(deps: AnchoredDeps): Promise<Anchored> {
  const { anchors, anchoring, checkpoints, logs } = deps
  const { origin } = logs.current
  const size = (await anchors.newest(origin))?.size ?? 0
  const oldest = (await checkpoints.firstOver(origin, size))?.timestamp
  return { size, oldest, isOn: await anchoring.isOn() }
}

/** The sender of anchors and its funds. */
export type SenderStatus = { address: string | null; balance_wei: string | null; low: boolean }

export type AnchorStatus = {
  log: { anchored_size: number; oldest_unanchored_s: number | null }
  anchors: {
    status: 'ok' | 'disabled' | 'degraded' | 'diverged'
    reason?: string | null
    sender?: SenderStatus
    lag_s: number | null
  }
  isDegraded: boolean
}

/** How far the log is anchored, and what prevents more. */
export const anchorStatus = async (deps: StatusDeps & AnchoredDeps) =>
  anchorStatusOf(deps, await readAnchored(deps))

/** {@link anchorStatus} of values that the caller has read. */
export function anchorStatusOf(deps: StatusDeps, { size, oldest, isOn }: Anchored): AnchorStatus {
  const { anchoring, clock, health } = deps
  const now = clock.now()
  const waited = oldest === undefined ? null : Math.max(0, Math.floor((now - oldest) / 1000))
  const log = { anchored_size: size, oldest_unanchored_s: waited }
  const hasDiverged = isDiverged(health)
  if (!isOn) {
    const still = { ...log, oldest_unanchored_s: null }
    return {
      log: still,
      anchors: { status: hasDiverged ? 'diverged' : 'disabled', lag_s: null },
      isDegraded: hasDiverged,
    }
  }
  const { trouble, balanceWei, isLow } = health.anchors
  const reason = trouble ?? (isLate(oldest, anchoring.policy, now) ? 'late' : null)
  const isUnguarded = health.log === 'unchecked' && health.chain.trouble !== null
  const status = hasDiverged ? 'diverged' : reason || isUnguarded ? 'degraded' : 'ok'
  const sender = {
    address: anchoring.sender?.address ?? null,
    balance_wei: balanceWei === null ? null : String(balanceWei),
    low: isLow,
  }
  const why = reason ?? (isUnguarded ? 'chain_unavailable' : null)
  const anchors = { status, reason: why, sender, lag_s: waited ?? 0 } as const
  return { log, anchors, isDegraded: status !== 'ok' }
}
