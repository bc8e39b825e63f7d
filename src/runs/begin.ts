/** Begins a run: checks the key, the plan and the model, and holds the most that it can cost. */
import { assertModelAllowed } from '../access/keys/key.ts'
import type { Deps } from '../app/deps-port.ts'
import { applyQuote, assertWithin } from '../billing/quotes/apply-quote.ts'
import { type JsonObject, objectOf } from '../kernel/json-object.ts'
import { maxNusd } from '../kernel/money.ts'
import { Refusal, refuse, refuseField } from '../kernel/refusal.ts'
import { StorageFault } from '../kernel/storage-fault.ts'
import { type Bound, boundOf } from '../models/bound.ts'
import { heldClasses } from '../models/held-classes.ts'
import type { Model, RouteStep } from '../models/model.ts'
import { modelAt } from '../models/price-hours.ts'
import { boundOfNative } from '../models/protocols/native/bound.ts'
import { asksReasoning } from '../models/reasoning.ts'
import { dearestPrices } from '../models/step-prices.ts'
import { loadTokenizer } from '../models/tokenizers/load.ts'
import type { Tokenizer } from '../models/tokenizers/tokenizer.ts'
import { widest, withoutLimit } from '../models/wider-bounds.ts'
import { isDiverged } from '../proof/log/divergence.ts'
import { BrakePassed, pullBrake } from './brake.ts'
import { freeLater, unstored } from './finish.ts'
import { holdOf, withTokens } from './fit.ts'
import type { LiveRun } from './live-run.ts'
import { Opening, type RunRequest } from './opening.ts'
import { isUnlimited } from './route.ts'
import { hasChoice } from './route-order.ts'
import { recordShortfall } from './shortfall-event.ts'

/**
 * Holds the most a run can cost, in one command. After it the run must be ended by {@link finish}
 * on every path. A background run has its row before this returns.
 * @throws Refusal `insufficient_balance`, `cap_exceeded`, `concurrency_limited`, `unavailable`,
 * `invalid_request`, `model_not_allowed`, `log_diverged`, `idempotency_in_progress`, `not_found` or
 * `gone` for its quote, or one for the state of the key or its parents. Nothing is held then.
 */
export async function begin(deps: Deps, wish: RunRequest): Promise<LiveRun> {
  const { caller } = wish
  if (isDiverged(deps.health)) refuse('log_diverged')
  if (deps.health.heads === 'unchecked') await deps.heads.assertChecked()
  assertModelAllowed(caller.chain, wish.model.id)
  const { model, quote } =
    wish.quote === undefined ? unquoted(deps, wish) : await quotedFor(deps, wish)
  const tokenizer = model.tokenizer && (await loadTokenizer(model.tokenizer))
  const limited = boundOfWish(model, wish, tokenizer)
  const bound = isUnlimited(deps, model) ? withoutLimit(model, limited) : limited
  const billsCacheWrites =
    model.isCached === true || model.route.some((step) => isBillingWrites(deps, step))
  const request = wish.native?.members ?? wish.body ?? {}
  const held = heldClasses(dearestPrices(model), request, { billsCacheWrites })
  if (held) bound.held = held
  if (quote) assertWithin(quote, bound)
  assertPayable(model, wish.fit ? withTokens(bound, 1) : bound)
  const asked = deps.texts.retentionOf(caller.account)
  const retention = asked instanceof Promise ? await asked : asked
  if (wish.client) await assertThere(wish.client)
  deps.live.admit(caller, deps.settings.nodes, deps.settings.unfundedRuns)
  const id = deps.ids.make('run')
  deps.live.expect(id)
  let opening: Opening | undefined
  try {
    opening = new Opening(deps, wish, id, model, bound, quote)
    await deps.ledger.post(opening)
    const live = opening
    live.begin(retention !== 'none')
    // A translation leaves out some of the ways to ask for it.
    live.asksReasoning = asksReasoning(request) || asksReasoning(objectOf(wish.received))
    if (hasChoice(deps, model)) live.cacheId = cacheIdOf(deps, wish, request)
    deps.live.add(live)
    return live
  } catch (error) {
    deps.live.release(caller.account, caller.key.lineage)
    // If the answer to the COMMIT was lost, the hold may exist.
    if (!(error instanceof Refusal)) {
      freeLater(deps, { id, accountId: caller.account }, model.prices, neverBegun, 0)
    }
    if (error instanceof BrakePassed) await pullBrake(deps, error.passed)
    if (opening?.shortfall) await recordShortfall(deps, opening.shortfall)
    // In both cases nothing is charged.
    throw error instanceof StorageFault ? error.withoutDoubt() : error
  } finally {
    deps.live.unexpect(id)
  }
}

/**
 * Bun closes a connection on which a second request comes before the first is answered. If both
 * came in one segment, that shows a turn after the first began.
 * @throws Refusal `unavailable`
 */
async function assertThere({ signal }: NonNullable<RunRequest['client']>): Promise<void> {
  await new Promise((resume) => setImmediate(resume))
  if (!signal.aborted) return
  const message = 'The connection closed before the run began. Nothing was charged.'
  refuse('unavailable', `${message} Wait for an answer before the next request.`)
}

/** The bound of a request as the steps of its route get it: as it came, translated, or both. */
function boundOfWish(model: Model, { body, native }: RunRequest, tokenizer?: Tokenizer): Bound {
  const own = native && boundOfNative(model, native, tokenizer)
  const translated = body && boundOf(model, body, tokenizer)
  if (own && translated) return widest(own, translated)
  return own ?? translated ?? boundOf(model, {}, tokenizer)
}

const neverBegun = {
  ...unstored,
  route: '',
  usageSource: 'counted',
  clamped: false,
  firstByteAt: null,
} as const

/** @throws Refusal when the bound costs more than any balance can hold. */
function assertPayable(model: Model, bound: Bound): void {
  if (holdOf(model, bound, 0) <= maxNusd) return
  refuseField('max_tokens', 'This could cost more than any balance can hold. Lower max_tokens.')
}

const cacheIdOf = ({ cachePlaces }: Deps, wish: RunRequest, request: JsonObject): bigint =>
  cachePlaces.idOf({
    account: wish.caller.account,
    model: wish.model.id,
    request,
    session: wish.client?.headers?.get('x-session-id'),
  })

const isBillingWrites = ({ upstreams }: Deps, { upstream, model }: RouteStep): boolean =>
  upstreams.get(upstream)?.dialects?.of(model).billsCacheWrites === true

const unquoted = ({ clock }: Deps, { model }: RunRequest) => ({
  model: model.hours ? modelAt(model, clock.now()) : model,
  quote: undefined,
})

const quotedFor = (deps: Deps, { caller, model, body, native, fit, quote = '' }: RunRequest) => {
  const limited = body ?? { max_tokens: native?.limit[1] ?? null }
  return applyQuote(deps, { id: quote, caller, model, body: limited, fit: fit === true })
}
