/** Decides whether circuit breakers leave a model any upstream to send a run to. */
import type { Model } from '../models/model.ts'
import type { Upstreams } from '../models/upstream/live-upstreams.ts'
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

/** Whether the circuit of every upstream of a model is open or half open. */
export const isCircuitOpen = (upstreams: FindUpstream, { route }: Model): boolean =>
  route.length > 0 && route.every(({ upstream }) => isUpstreamOpen(upstreams, upstream))

function isUpstreamOpen(upstreams: FindUpstream, id: string): boolean {
  const breaker = upstreams.get(id)?.breaker
  return breaker !== undefined && breaker().state !== 'closed'
}
