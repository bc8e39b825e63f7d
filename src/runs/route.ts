/**
 * Tries the upstreams of a model's route one after another, asks each as it takes requests, and
 * learns from what it refuses.
 */
import type { Deps } from '../app/deps-port.ts'
import { refuse } from '../kernel/refusal.ts'
import { keysIn } from '../ledger/brake.ts'
import { raiseHold } from '../ledger/raise-hold.ts'
import type { CachePlace } from '../models/cache-places.ts'
import type { Model, RouteStep } from '../models/model.ts'
import {
  adapt,
  adaptHeaders,
  type Dialect,
  takesLimit,
  withFacts,
  wordsOf,
} from '../models/protocols/dialect.ts'
import { forward } from '../models/protocols/forward.ts'
import { factsIn } from '../models/protocols/refused-member.ts'
import {
  type FailureReason,
  type Upstream,
  type UpstreamCall,
  UpstreamFailure,
} from '../models/upstream/upstream.ts'
import { withoutLimit } from '../models/wider-bounds.ts'
import { quotePrefix } from '../verify/checks.ts'
import { holdOf } from './fit.ts'
import { FreeformCalls } from './freeform-calls.ts'
import { type LiveRun, namesOf } from './live-run.ts'
import { isAt, orderFor } from './route-order.ts'

/** Notes how a run is asked for at one step of its route, and asks so. */
function callFor(
  live: LiveRun,
  { protocol }: Upstream,
  step: RouteStep,
  place: CachePlace | undefined,
): UpstreamCall {
  // Each step leaves other members behind.
  live.ignored = live.unread
  const { body, isNative, ignored, freeform } = forward(live, step, protocol)
  live.isSent = false
  live.exchange = undefined
  live.key = undefined
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
    key: isAt(step, place) ? place?.key : undefined,
    signal: live.signal,
    mark: live,
  }
}

/** Failures that another step would have as well. */
const isLast = new Set<FailureReason>(['aborted', 'rejected', 'context'])

/** Whether no key was left to ask a server by: without a status, none was asked. */
const isResting = ({ reason, status }: UpstreamFailure): boolean =>
  (reason === 'limited' || reason === 'denied') && status === undefined

type PlaceDeps = Pick<Deps, 'cachePlaces' | 'clock'>

/** The step and key that have the cache of a run's conversation. */
const placeOf = ({ cachePlaces, clock }: PlaceDeps, { cacheId, row }: LiveRun) =>
  cacheId === undefined ? undefined : cachePlaces.find(row.accountId, cacheId, clock.monotonic())

function notePlace(deps: PlaceDeps, { row, key }: LiveRun, id: bigint, step: RouteStep): void {
  deps.cachePlaces.note(row.accountId, id, step, { key, at: deps.clock.monotonic() })
}

/** How a server is asked: for a whole answer, or for one that comes in pieces. */
type Verb = 'complete' | 'stream'
type AnswerOf<V extends Verb> = Awaited<ReturnType<Upstream[V]>>

/** Returns the first answer. A step is tried only before the first byte of another. */
export async function tryRoute<V extends Verb>(
  deps: Pick<Deps, 'upstreams' | 'ledger' | 'log' | 'cachePlaces' | 'clock'>,
  live: LiveRun,
  verb: V,
): Promise<AnswerOf<V>> {
  let last: unknown
  const place = placeOf(deps, live)
  for (const step of orderFor(deps, live, place)) {
    const upstream = deps.upstreams.get(step.upstream)
    if (!upstream) throw new Error(`model ${live.model.id} names an unknown upstream`)
    try {
      const answer = await askAdapted(deps, live, verb, { upstream, step, place })
      if (live.cacheId !== undefined) notePlace(deps, live, live.cacheId, step)
      return answer
    } catch (error) {
      live.span?.failed(error)
      if (!(error instanceof UpstreamFailure)) throw error
      last = error
      if (!isLast.has(error.reason)) live.hasTrouble = true
      // Its circuit is open, or all of its keys rest: it was not called again.
      if (error.reason === 'open' || isResting(error)) continue
      deps.log.warn('upstream.failed', {
        ...namesOf(live),
        upstream: step.upstream,
        reason: error.trouble ?? error.reason,
        status: error.status,
        ...(error.code === undefined ? {} : { code: error.code }),
      })
      if (isLast.has(error.reason) || live.isLeft()) break
      live.isSent = false
    }
  }
  throw last ?? new UpstreamFailure('unreachable')
}

/** The route as receipts and run views name it: `upstream:model`. */
export const routeName = (step: RouteStep | undefined): string =>
  step ? `${step.upstream}:${step.model}` : ''

/** The most further tries of one server: it may refuse both names of the limit. */
const mostTries = 2

type Attempt = {
  upstream: Upstream
  step: RouteStep
  place: CachePlace | undefined
}

type AdaptDeps = Pick<Deps, 'ledger' | 'log'>

/**
 * Asks one server of a route. A refusal that names a member is answered by another try without it,
 * before the first byte and under the same hold. Facts are remembered once a try went through,
 * because the words of a refusal may be those of a client.
 */
async function askAdapted<V extends Verb>(
  deps: AdaptDeps,
  live: LiveRun,
  verb: V,
  { upstream, step, place }: Attempt,
): Promise<AnswerOf<V>> {
  const { dialects, protocol } = upstream
  const declared: Dialect = dialects?.of(step.model) ?? {}
  let learned: Dialect = {}
  for (let tries = 0; ; tries++) {
    const dialect = tries === 0 ? declared : withFacts(declared, learned)
    if (!takesLimit(protocol, dialect)) await raiseToModel(deps, live)
    const call = callFor(live, upstream, step, place)
    if (call.kind === 'chat' && dialects) {
      const { body, dropped } = adapt(protocol, dialect, call.body)
      call.body = body
      call.without = dialect.without
      call.passed = adaptHeaders(dialect, call.passed)
      if (dropped.length > 0) live.ignored = [...live.ignored, ...dropped]
    }
    try {
      live.step = step
      const answer = await (upstream[verb](call) as ReturnType<Upstream[V]>)
      if (tries > 0) remember(deps, upstream, step, learned)
      return answer
    } catch (error) {
      const words = error instanceof UpstreamFailure ? error.words : undefined
      const isOver = tries === mostTries || call.kind !== 'chat' || live.isLeft()
      if (!words || !dialects || isOver) throw error
      const facts = factsIn(words, { protocol, body: call.body, dialect })
      if (!facts) throw error
      learned = withFacts(learned, facts)
    }
  }
}

function remember({ log }: AdaptDeps, upstream: Upstream, step: RouteStep, facts: Dialect): void {
  upstream.dialects?.learn(step.model, facts)
  for (const member of wordsOf(facts)) {
    log.info('upstream.learned', { upstream: upstream.id, model: step.model, member })
  }
}

/** Whether a server of the model's route is known to take no limit of an answer. */
export const isUnlimited = (
  { upstreams }: Pick<Deps, 'upstreams'>,
  { kind, route }: Model,
): boolean =>
  kind === 'chat' &&
  route.some(({ upstream, model }) => {
    const found = upstreams.get(upstream)
    return found?.dialects !== undefined && !takesLimit(found.protocol, found.dialects.of(model))
  })

/**
 * Holds as much as the model can write, because its server is told no limit.
 * @throws Refusal `cap_exceeded`, `insufficient_balance`, or `conflict` where a quote promised less
 */
async function raiseToModel({ ledger }: AdaptDeps, live: LiveRun): Promise<void> {
  const { model, row } = live
  const bound = withoutLimit(model, live.bound)
  if (bound === live.bound) return
  const hold = holdOf(model, bound, row.discountBps)
  if (hold > row.hold) {
    if (row.priceList.startsWith(quotePrefix)) {
      refuse('conflict', {
        message:
          'The model server takes no limit of the answer, so this run could cost more than was ' +
          'quoted. Ask for a new quote. Nothing was charged.',
        headers: { 'x-should-retry': 'false' },
      })
    }
    const keys = keysIn(row.windows)
    await ledger.post({
      account: row.accountId,
      keys,
      windows: row.windows,
      run: row.id,
      decide(unit) {
        const chain = keys.flatMap((id) => unit.key(id) ?? [])
        raiseHold(unit, row, chain, hold)
      },
    })
    row.hold = hold
  }
  live.bound = bound
}
