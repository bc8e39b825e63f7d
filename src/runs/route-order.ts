/** The order in which the steps of a run's route are asked. */
import type { Deps } from '../app/deps-port.ts'
import { drawShare } from '../kernel/random.ts'
import type { CachePlace } from '../models/cache-places.ts'
import { choose, type StepState } from '../models/choose.ts'
import { costOf } from '../models/meter.ts'
import type { Model, RouteStep } from '../models/model.ts'
import { holdLines } from '../models/rates.ts'
import type { LiveRun } from './live-run.ts'

type OrderDeps = Pick<Deps, 'upstreams'>

/** Whether a model has steps or keys to choose from; most have not, and remember no caches. */
export function hasChoice({ upstreams }: OrderDeps, { balance, route }: Model): boolean {
  if (balance !== undefined && route.length > 1) return true
  for (const { upstream } of route) if (upstreams.get(upstream)?.keys) return true
  return false
}

export const isAt = (step: RouteStep, place: CachePlace | undefined): boolean =>
  place !== undefined && step.upstream === place.upstream && step.model === place.model

/** The route itself where its order is fixed. */
export function orderFor(
  deps: OrderDeps,
  live: LiveRun,
  place: CachePlace | undefined,
): readonly RouteStep[] {
  const { balance, route } = live.model
  if (balance === undefined || route.length === 1) return route
  const cached = place && route.find((step) => isAt(step, place))
  const of = (step: RouteStep) => stateOf(deps, live, step)
  return choose(route, { balance, random: drawShare, of }, cached)
}

function stateOf({ upstreams }: OrderDeps, { model, bound }: LiveRun, step: RouteStep): StepState {
  const upstream = upstreams.get(step.upstream)
  const { taken = 0, waiting = 0 } = upstream?.load?.() ?? {}
  const isAsked = model.balance === 'cost' && step.cost !== undefined
  return {
    isReady: upstream?.breaker?.().state !== 'open' && upstream?.isReady?.(step.model) !== false,
    latencyMs: upstream?.latencies?.of(step.model),
    load: taken + waiting,
    cost: isAsked && step.cost ? costOf(holdLines(step.cost, model.kind, bound), 0) : undefined,
  }
}
