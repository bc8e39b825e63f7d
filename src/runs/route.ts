/** Tries the upstreams of a model's route in order. */
import type { Deps } from '../app/deps-port.ts'
import type { RouteStep } from '../models/model.ts'
import { forward } from '../models/protocols/forward.ts'
import {
  type FailureReason,
  type Upstream,
  type UpstreamCall,
  UpstreamFailure,
} from '../models/upstream/upstream.ts'
import { askAdapted } from './adapted-call.ts'
import { FreeformCalls } from './freeform-calls.ts'
import { type LiveRun, namesOf } from './live-run.ts'

/** Notes how a run is asked for at one step of its route, and asks so. */
function callFor(live: LiveRun, { protocol }: Upstream, step: RouteStep): UpstreamCall {
  // Each step leaves other members behind.
  live.ignored = live.unread
  const { body, isNative, ignored, freeform } = forward(live, step, protocol)
  live.isSent = false
  live.exchange = undefined
  live.protocol = protocol
  live.isNative = isNative
  live.ignored = ignored
  live.freeform = freeform && new FreeformCalls(freeform)
  return {
    kind: live.model.kind,
    body,
    isNative,
    passed: isNative ? live.native?.headers : undefined,
    account: live.row.accountId,
    run: live.id.slice('run_'.length),
    trace: live.span ? live.span.ask(step) : live.trace,
    signal: live.signal,
    mark: live,
  }
}

/** What another step would come to as well. */
const isLast = new Set<FailureReason>(['aborted', 'rejected', 'context'])

/** Returns the first answer. A step is tried only before the first byte of another. */
export async function tryRoute<T>(
  deps: Pick<Deps, 'upstreams' | 'ledger' | 'log'>,
  live: LiveRun,
  ask: (upstream: Upstream, call: UpstreamCall, step: RouteStep) => Promise<T>,
): Promise<T> {
  let last: unknown
  for (const step of live.model.route) {
    const upstream = deps.upstreams.get(step.upstream)
    if (!upstream) throw new Error(`model ${live.model.id} names an unknown upstream`)
    try {
      return await askAdapted(deps, live, {
        upstream,
        step,
        call: () => callFor(live, upstream, step),
        ask: (call) => ask(upstream, call, step),
      })
    } catch (error) {
      live.span?.failed(error)
      if (!(error instanceof UpstreamFailure)) throw error
      last = error
      // Its circuit is open: it was not called, so this is not a new failure to log.
      if (error.reason === 'open') continue
      deps.log.warn('upstream.failed', {
        ...namesOf(live),
        upstream: step.upstream,
        reason: error.trouble ?? error.reason,
        status: error.status,
        ...(error.code === undefined ? {} : { code: error.code }),
      })
      if (isLast.has(error.reason) || live.stopped() || live.isDraining) break
      live.isSent = false
    }
  }
  throw last ?? new UpstreamFailure('unreachable')
}

/** The route as receipts and run views name it: `upstream:model`. */
export const routeName = (step: RouteStep | undefined): string =>
  step ? `${step.upstream}:${step.model}` : ''
