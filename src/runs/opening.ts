/** The command that opens a run: its hold, and the row that it becomes. */
import { assertModelInPlan, assertUsable, type Caller } from '../access/keys/key.ts'
import { discountFor, type Plan } from '../access/plan.ts'
import type { Deps } from '../app/deps-port.ts'
import { quoteRows } from '../billing/quotes/quote-rows.ts'
import { takeUse, usableQuote } from '../billing/quotes/quoted.ts'
import type { Json } from '../kernel/canonical.ts'
import type { Millis } from '../kernel/clock.ts'
import { isSet } from '../kernel/json-object.ts'
import { maxNusd, type Nusd } from '../kernel/money.ts'
import { type RefusalDetail, refuse } from '../kernel/refusal.ts'
import type { Command } from '../ledger/command.ts'
import { isFunded, whyNoFreeWrites, whyNoUnpaidRuns } from '../ledger/free-writes.ts'
import { mostFor, type Passed, type Shortage, takeHold } from '../ledger/hold.ts'
import type { Once } from '../ledger/once.ts'
import type { PartId } from '../ledger/part.ts'
import type { UnitOfWork } from '../ledger/unit-of-work.ts'
import type { Bound } from '../models/bound.ts'
import { builtinUpstreamId } from '../models/builtins.ts'
import type { Model } from '../models/model.ts'
import { modelAt } from '../models/price-hours.ts'
import type { JsonObject } from '../models/upstream/upstream.ts'
import { commitInput } from '../proof/receipts/receipt.ts'
import type {
  AccountRow,
  HoldWindow,
  KeyRow,
  QuoteRow,
  RunRow,
} from '../storage/db/schema/schema.ts'
import { quotePrefix } from '../verify/checks.ts'
import { BrakePassed } from './brake.ts'
import { assertCircuitClosed } from './circuit.ts'
import { fitBound, holdOf } from './fit.ts'
import { type KeptRequest, LiveRun } from './live-run.ts'
import { explainShortage } from './shortage.ts'
import { type Shortfall, shortfallOf } from './shortfall-event.ts'

/** The parts of a client's request that are read after its body. */
type AskingClient = {
  readonly signal: { readonly aborted: boolean }
  readonly headers?: { get(name: string): string | null }
}

/** A run that a caller asks for. */
export type RunRequest = KeptRequest & {
  caller: Caller
  model: Model
  background: boolean
  tags: Record<string, string>
  metadata: Record<string, Json>
  /** Whether to lower the output limit to what the caller can afford. */
  fit?: boolean | undefined
  /** The name that the caller gives the most tokens of an answer, if the body has another. */
  limit?: string | undefined
  /** The request that asks; a run whose client is gone before its hold does not begin. */
  client?: AskingClient | undefined
  /** The call of a request with an Idempotency-Key. */
  once?: Once<OpenedRun> | undefined
  /** The id of the quote that it is to be charged by. */
  quote?: string | undefined
}

/** A run with its hold, and the most tokens that it can use. */
export type OpenedRun = Pick<LiveRun, 'row' | 'bound'>

/** A run as the command that opens it. The run that goes on is the same object. */
export class Opening extends LiveRun implements Command<OpenedRun> {
  readonly account: string
  readonly keys: readonly string[]
  readonly parts: readonly PartId[] | undefined
  /** A background run is answered before it ends, and a use of a quote outlives a crash. */
  readonly isHold: boolean
  /** It asks the budget itself, if it turns out to be free. */
  readonly isExempt = true
  /** Set by a refused hold, which proves that its purse is used up. */
  shortfall: Shortfall | undefined
  /** Undefined once it has begun. */
  private wish: RunRequest | undefined
  private readonly seed: Uint8Array
  private readonly inputCommitment: Uint8Array
  private readonly priceList: string

  constructor(
    private readonly deps: Deps,
    wish: RunRequest,
    id: string,
    model: Model,
    private readonly most: Bound,
    private readonly quote: QuoteRow | undefined,
  ) {
    super(id, model, most, wish.once?.scope, wish)
    this.wish = wish
    this.account = wish.caller.account
    this.keys = wish.caller.key.lineage
    this.parts = quote && [quoteRows.of(quote.digest)]
    this.isHold = !wish.background && !quote
    // Before the command, which is to be short.
    this.seed = deps.random.bytes(32)
    this.inputCommitment = commitInput(this.seed, wish.received)
    const list = deps.catalogue.priceListOf(wish.model)
    this.priceList = quote ? `${quotePrefix}${quote.digest}` : `${list.id}@${list.version}`
  }

  /** Its hold is there. Lets go of the request, and of its text unless that is kept. */
  begin(isKept: boolean): void {
    const { clock, telemetry } = this.deps
    this.startedAt = clock.monotonic()
    this.span = telemetry?.start(this.trace)
    if (!isKept) this.received = undefined
    this.wish = undefined
  }

  protected drainMs(): number {
    const { reports, settings } = this.deps
    return reports.drains(this.model, this.asksReasoning) ? settings.drainMs : 0
  }

  decide(unit: UnitOfWork): OpenedRun {
    const { deps, account: accountId, wish, most: bound, quote } = this
    if (!wish) throw new Error(`run ${this.id} has begun`)
    // The hour in which the hold is made counts, also for a run that asked before it.
    if (wish.model.hours && !quote) this.model = modelAt(wish.model, unit.now)
    const { model } = this
    const { once } = wish
    // The connection may have broken since the check: this one may reach another server.
    deps.heads.assertOpen()
    once?.assertFirst(unit)
    const chain: KeyRow[] = []
    for (const id of this.keys) chain.push(unit.key(id) ?? refuse('invalid_key'))
    assertUsable(chain, unit.now)
    const account = unit.account(accountId)
    if (account?.status !== 'active') return refuse('account_suspended')
    // The plan at this moment: a run keeps its discount when the plan changes later.
    const plan = deps.plans.of(account, unit.now)
    assertModelInPlan(plan, model.id)
    assertCircuitClosed(deps.upstreams, model, accountId)
    const discountBps = discountOf(plan, model, quote)
    const room = wish.fit ? mostFor(unit, accountId, chain) : maxNusd
    const fitted = wish.fit ? fitBound(model, bound, room, discountBps) : bound
    const hold = holdOf(model, fitted, discountBps)
    if (hold === 0n) this.assertMayRunFree(account, unit.now)
    else assertMayEndUnpaid(deps, account, unit.now)
    const promised = quote && usableQuote(unit, quote.digest)
    const explain = (shortage: Shortage) => this.explain(unit, wish, shortage, discountBps)
    const windows = takeHold(unit, chain, hold, explain, throwPassed)
    if (promised) takeUse(unit, promised)
    this.row = this.toRow(unit, wish, chain, { hold, discountBps, windows })
    this.bound = fitted
    unit.addRun(this.row)
    once?.note(unit, this, this.id)
    return this
  }

  /** A run without a price leaves a receipt for ever. @throws Refusal 402 or 429 */
  private assertMayRunFree(account: AccountRow, now: Millis): void {
    const { settings } = this.deps
    const full = whyNoFreeWrites(settings, account, now)
    if (full) {
      this.deps.live.usedUp.note(this.account, now)
      throw full
    }
    const isForAll = settings.freeForAll ?? !settings.baseUrl.startsWith('https:')
    if (isForAll || isFunded(account) || account.id === settings.sponsor) return
    if (!this.model.route.every(({ upstream }) => upstream === builtinUpstreamId)) return
    const depositUrl = `${settings.baseUrl}/dashboard/deposits`
    refuse('insufficient_balance', {
      message: `Built-in models are free for accounts that paid in before. Deposit: ${depositUrl}`,
      metadata: { deposit_url: depositUrl },
    })
  }

  private explain(
    unit: UnitOfWork,
    wish: RunRequest,
    shortage: Shortage,
    discountBps: number,
  ): RefusalDetail {
    const { model, most: bound } = this
    this.shortfall = shortfallOf(unit, this.account, shortage)
    return explainShortage(shortage, {
      model,
      bound,
      discountBps,
      fit: wish.fit === true,
      limit: wish.limit ?? limitIn(wish.body),
      depositUrl: `${this.deps.settings.baseUrl}/dashboard/deposits`,
    })
  }

  /** Written out: a spread of what has not ended costs a run a microsecond. */
  private toRow(
    { now }: UnitOfWork,
    wish: RunRequest,
    chain: readonly KeyRow[],
    { hold, discountBps, windows }: { hold: Nusd; discountBps: number; windows: HoldWindow[] },
  ): RunRow {
    const { id, model } = this
    return {
      id,
      accountId: this.account,
      keyId: wish.caller.key.id,
      node: this.deps.settings.node,
      status: wish.background ? 'queued' : 'running',
      kind: model.kind,
      model: model.id,
      createdAt: now,
      startedAt: wish.background ? null : now,
      hold,
      windows,
      priceList: this.priceList,
      discountBps,
      tags: wish.tags,
      metadata: wish.metadata,
      seed: this.seed,
      inputCommitment: this.inputCommitment,
      passport: chain[0]?.passport ?? '',
      background: wish.background,
      route: '',
      firstByteAt: null,
      finishedAt: null,
      lines: [],
      cost: 0n,
      usageSource: null,
      clamped: false,
      outcome: null,
      error: null,
      durationMs: null,
      outputCommitment: null,
      issuer: '',
      digest: null,
      logPlace: null,
      signature: null,
      output: null,
      outputUntil: null,
    }
  }
}

/** @throws Refusal `rate_limited` */
function assertMayEndUnpaid({ settings }: Deps, account: AccountRow, now: Millis): void {
  const full = whyNoUnpaidRuns(settings, account, now)
  if (full) throw full
}

const throwPassed = (passed: Passed): never => {
  throw new BrakePassed(passed)
}

/** The discount of the plan, or the promised one if that is more. */
function discountOf(plan: Plan, model: Model, quote: QuoteRow | undefined): number {
  const bps = discountFor(plan, model.id)
  return quote ? Math.max(bps, Number(quote.quote.discount_bps)) : bps
}

const limitIn = (body: JsonObject = {}): string =>
  isSet(body['max_completion_tokens']) ? 'max_completion_tokens' : 'max_tokens'
