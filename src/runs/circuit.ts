/** Decides whether circuit breakers leave a model any upstream to send a run to. */
import { Refusal } from '../kernel/refusal.ts'
import { retryHeaders } from '../kernel/retry-headers.ts'
import type { Model } from '../models/model.ts'
import type { Upstreams } from '../models/upstream/live-upstreams.ts'
import type { Upstream } from '../models/upstream/upstream.ts'

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

/** The error for a model whose circuit stays open for `openMs` more milliseconds; at least 1 s. */
export function circuitOpenRefusal(openMs: number): Refusal {
  return new Refusal('unavailable', {
    message:
      'The model server is failing; requests to it are paused. Nothing was charged. Retry after ' +
      'the time in Retry-After.',
    headers: retryHeaders(Math.max(1000, openMs)),
  })
}

/** Whether every upstream of a model rests after failures, or does not take our key. */
export const isUnserved = (upstreams: FindUpstream, { route }: Model): boolean =>
  route.length > 0 && route.every(({ upstream }) => isFailing(upstreams.get(upstream)))

/** Whether an upstream rests after failures, or does not take our key. */
export function isFailing(upstream: Upstream | undefined): boolean {
  const state = upstream?.breaker?.().state ?? 'closed'
  return state !== 'closed' || upstream?.fault?.() !== undefined
}
