/** Decides whether circuit breakers leave a model any upstream to send a run to. */
import type { Model } from '../models/model.ts'
import type { Upstreams } from '../models/upstream/live-upstreams.ts'
import type { Upstream } from '../models/upstream/upstream.ts'
import { circuitOpenRefusal } from './failure.ts'

type FindUpstream = Pick<Upstreams, 'get'>

/**
 * Refuses a run of this account, before money is held, while every circuit of its route is open.
 * @throws Refusal 'unavailable'
 */
export function assertCircuitClosed(
  upstreams: FindUpstream,
  { route }: Model,
  account: string,
): void {
  let openMs = Number.POSITIVE_INFINITY
  for (const { upstream } of route) {
    openMs = Math.min(openMs, upstreams.get(upstream)?.breaker?.(account).retryAfterMs ?? 0)
  }
  if (route.length > 0 && openMs > 0) throw circuitOpenRefusal(openMs)
}

/** Whether every upstream of a model rests after failures, or does not take our key. */
export const isUnserved = (upstreams: FindUpstream, { route }: Model): boolean =>
  route.length > 0 && route.every(({ upstream }) => isFailing(upstreams.get(upstream)))

/** Whether an upstream rests after failures, or does not take our key. */
export function isFailing(upstream: Upstream | undefined): boolean {
  const state = upstream?.breaker?.().state ?? 'closed'
  return state !== 'closed' || upstream?.fault?.() !== undefined
}
