/** Begins a run: checks the key, the plan and the model, and holds the most that it can cost. */
import {
  assertModelAllowed,
  assertModelInPlan,
  assertUsable,
  type Caller,
} from '../access/keys/key.ts'
import type { Plan } from '../access/plan.ts'
import type { Deps } from '../app/deps-port.ts'
import { applyQuote, assertWithin } from '../billing/quotes/apply-quote.ts'
import type { Json } from '../kernel/canonical.ts'
import type { Millis } from '../kernel/clock.ts'
import { maxNusd } from '../kernel/money.ts'
import { Refusal, refuse } from '../kernel/refusal.ts'
import { StorageFault } from '../kernel/storage-fault.ts'
import type { Trace } from '../kernel/trace.ts'
import { mostFor, type Passed, type Shortage, takeHold } from '../ledger/hold.ts'
import type { Once } from '../ledger/once.ts'
import { takeUse, usableQuote } from '../ledger/quoted.ts'
import { isSet } from '../models/body.ts'
import { type Bound, boundOf } from '../models/bound.ts'
import type { Model } from '../models/model.ts'
import { type Native, textBytesOf } from '../models/protocols/native.ts'
import { loadTokenizer } from '../models/tokenizers/load.ts'
import type { JsonObject } from '../models/upstream/upstream.ts'
import { isDiverged } from '../proof/log/divergence.ts'
import { commitInput } from '../proof/receipts/receipt.ts'
import type { QuoteRow, RunRow } from '../storage/db/schema.ts'
import { toRunRow } from '../storage/holds/open-runs.ts'
import { quotePrefix } from '../verify/checks.ts'
import { BrakePassed, pullBrake } from './brake.ts'
import { assertCircuitClosed } from './circuit.ts'
import { freeLater, unstored } from './finish.ts'
import { fitBound, holdOf, withTokens } from './fit.ts'
import { LiveRun } from './live-run.ts'
import { explainShortage } from './shortage.ts'
import { type Lack, lackOf, tellLack } from './tell-shortage.ts'

/** A run that a caller asks for. */
export type RunWish = {
  caller: Caller
  model: Model
  /** The request in the shape of Chat Completions. */
  body: JsonObject
  /** The same as it came, if its protocol was another one. */
  native?: Native | undefined
  /** Members of what came that its reading in that shape left behind. */
  ignored?: readonly string[] | undefined
  /** The request body as received; the receipt commits to it. */
  received: Json
  background: boolean
  tags: Record<string, string>
  metadata: Record<string, Json>
  /** Whether to lower the output limit to what the caller can afford. */
  fit?: boolean | undefined
  /** What the caller named the most tokens of an answer, where the body names it otherwise. */
  limit?: string | undefined
  trace?: Trace | undefined
  /** The id of the browser session that asks; the run ends with it. */
  session?: string | undefined
  /** For a request with an Idempotency-Key. */
  once?: Once<Begun> | undefined
  /** The id of the quote that it is to be charged by. */
  quote?: string | undefined
}

/** A run with its hold, and the most tokens that it can use. */
export type Begun = { run: RunRow; bound: Bound }

/**
 * Holds the most a run can cost, in one command. After it the run must be ended by {@link finish}
 * on every path. A background run has its row before this returns.
 * @throws Refusal `insufficient_balance`, `cap_exceeded`, `concurrency_limited`, `unavailable`,
 * `invalid_request`, `model_not_allowed`, `log_diverged`, `idempotency_in_progress`, `not_found` or
 * `gone` for its quote, or one for the state of the key or its parents. Nothing is held then.
 */
export async function begin(deps: Deps, wish: RunWish): Promise<LiveRun> {
  const { caller, native, once } = wish
  if (isDiverged(deps.health)) refuse('log_diverged')
  if (deps.health.heads === 'unchecked') await deps.heads.assertChecked()
  assertModelAllowed(caller.chain, wish.model.id)
  const { model, quote } = wish.quote === undefined ? unquoted(wish) : await quotedFor(deps, wish)
  const tokenizer = model.tokenizer && (await loadTokenizer(model.tokenizer))
  const bound = boundOf(model, wish.body, tokenizer, native ? textBytesOf(native) : 0)
  if (quote) assertWithin(quote, bound)
  assertPayable(model, wish.fit ? withTokens(bound, 1) : bound)
  const asked = deps.texts.retentionOf(caller.account)
  const retention = asked instanceof Promise ? await asked : asked
  deps.live.admit(caller, deps.settings.nodes)
  const id = deps.ids.make('run')
  deps.live.expect(id)
  let lack: Lack | undefined
  try {
    const toRow = rowMaker(deps, wish, id, quote)
    const begun = await deps.ledger.post<Begun>({
      account: caller.account,
      keys: caller.key.lineage,
      call: once?.scope,
      quote: quote?.digest,
      // A background run is answered before it ends, and a use of a quote outlives a crash.
      isHold: !wish.background && !quote,
      decide(unit) {
        // The connection may have broken since the check: this one may reach another server.
        deps.heads.assertOpen()
        once?.assertFirst(unit)
        const chain = caller.key.lineage.map((id) => unit.key(id) ?? refuse('invalid_key'))
        assertUsable(chain, unit.now)
        const account = unit.account(caller.account)
        if (account?.status !== 'active') return refuse('account_suspended')
        // The plan at this moment: a run keeps its discount when the plan changes later.
        const plan = deps.plans.of(account, unit.now)
        assertModelInPlan(plan, model.id)
        assertCircuitClosed(deps.upstreams, model, caller.account)
        const discountBps = discountOf(plan, quote)
        const room = wish.fit ? mostFor(unit, caller.account, chain) : maxNusd
        const fitted = wish.fit ? fitBound(model, bound, room, discountBps) : bound
        const hold = holdOf(model, fitted, discountBps)
        const explain = (shortage: Shortage) => {
          lack = lackOf(unit, caller.account, shortage)
          return explainShortage(shortage, {
            model,
            bound,
            discountBps,
            fit: wish.fit === true,
            limit: wish.limit ?? limitIn(wish.body),
            depositUrl: `${deps.settings.baseUrl}/dashboard/deposits`,
          })
        }
        const promised = quote && usableQuote(unit, quote.digest)
        const windows = takeHold(unit, chain, hold, explain, throwPassed)
        if (promised) takeUse(unit, promised)
        const passport = chain[0]?.passport ?? ''
        const run = toRow({ passport, hold, discountBps, windows, at: unit.now })
        unit.addRun(run)
        const begun = { run, bound: fitted }
        once?.note(unit, begun, id)
        return begun
      },
    })
    const startedAt = deps.clock.monotonic()
    const received = retention === 'none' ? undefined : wish.received
    const { run: row, bound: fitted } = begun
    const live = new LiveRun({
      id,
      row,
      model,
      bound: fitted,
      body: wish.body,
      native: wish.native,
      ignored: wish.ignored ?? [],
      received,
      call: once?.scope,
      trace: wish.trace,
      span: deps.telemetry?.start(wish.trace),
      session: wish.session,
      startedAt,
    })
    deps.live.add(live)
    return live
  } catch (error) {
    deps.live.release(caller.account, caller.key.lineage)
    // If the answer to the COMMIT was lost, the hold may exist.
    if (!(error instanceof Refusal)) {
      freeLater(deps, { id, accountId: caller.account }, model.prices, neverBegun, 0)
    }
    if (error instanceof BrakePassed) await pullBrake(deps, error.passed)
    if (lack) await tellLack(deps, lack)
    // In both cases nothing is charged.
    throw error instanceof StorageFault ? error.withoutDoubt() : error
  } finally {
    deps.live.unexpect(id)
  }
}

const throwPassed = (passed: Passed): never => {
  throw new BrakePassed(passed)
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
  refuse('invalid_request', {
    param: 'max_tokens',
    message: 'This could cost more than any balance can hold. Lower max_tokens.',
  })
}

const unquoted = ({ model }: RunWish) => ({ model, quote: undefined })

const quotedFor = (deps: Deps, { caller, model, body, fit, quote = '' }: RunWish) =>
  applyQuote(deps, { id: quote, caller, model, body, fit: fit === true })

/** That of the plan, or the one that was promised, if that is more. */
const discountOf = ({ discountBps }: Plan, quote: QuoteRow | undefined): number =>
  quote ? Math.max(discountBps, Number(quote.quote.discount_bps)) : discountBps

const limitIn = (body: JsonObject): string =>
  isSet(body['max_completion_tokens']) ? 'max_completion_tokens' : 'max_tokens'

/** The columns of a run that only the command knows. */
type Held = Pick<RunRow, 'passport' | 'hold' | 'discountBps' | 'windows'> & { at: Millis }

/** Prepares the columns that need no lookup, to keep the command short. */
function rowMaker(
  deps: Deps,
  wish: RunWish,
  id: string,
  quote: QuoteRow | undefined,
): (held: Held) => RunRow {
  const { caller, model, background, tags, metadata } = wish
  const { node } = deps.settings
  const list = deps.catalogue.priceListOf(model)
  const priceList = quote ? `${quotePrefix}${quote.digest}` : `${list.id}@${list.version}`
  const seed = deps.random.bytes(32)
  const inputCommitment = commitInput(seed, wish.received)
  return ({ at, passport, hold, discountBps, windows }) =>
    toRunRow({
      id,
      accountId: caller.account,
      keyId: caller.key.id,
      node,
      status: background ? 'queued' : 'running',
      kind: model.kind,
      model: model.id,
      createdAt: at,
      startedAt: background ? null : at,
      hold,
      windows,
      priceList,
      discountBps,
      tags,
      metadata,
      seed,
      inputCommitment,
      passport,
      background,
    })
}
