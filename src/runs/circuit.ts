import type { Deps } from '../app/deps-port.ts'
import type { Model } from '../models/model.ts'
import { restingRefusal } from './run.ts'

type Upstreams = Pick<Deps['upstreams'], 'get'>

/**
 * Refuses a run of this account before money is held if no upstream of its route would be asked.
 * @throws Refusal 'unavailable'
 */
export function assertAsked(upstreams: Upstreams, { route }: Model, account: string): void {
  let restMs = Number.POSITIVE_INFINITY
  for (const { upstream } of route) {
    restMs = Math.min(restMs, upstreams.get(upstream)?.breaker?.(account).restMs ?? 0)
  }
  if (route.length > 0 && restMs > 0) throw restingRefusal(restMs)
}

/** Whether each upstream of a model failed so often that it has to show first that it works. */
export const isResting = (upstreams: Upstreams, { route }: Model): boolean =>
  route.length > 0 && route.every(({ upstream }) => isOpen(upstreams, upstream))

function isOpen(upstreams: Upstreams, id: string): boolean {
  const breaker = upstreams.get(id)?.breaker
  return breaker !== undefined && breaker().state !== 'closed'
}
