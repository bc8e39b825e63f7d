/** Makes a quote: signs what a model costs now, so that later runs cost no more. */
import {
  assertModelAllowed,
  assertModelInPlan,
  assertUsable,
  type Caller,
} from '../../access/keys/key.ts'
import { discountFor } from '../../access/plan.ts'
import type { Deps } from '../../app/deps-port.ts'
import { type Hex, toHex } from '../../kernel/hex.ts'
import { maxNusd } from '../../kernel/money.ts'
import { refuse, refuseField } from '../../kernel/refusal.ts'
import type { Once } from '../../ledger/once.ts'
import { costOf } from '../../models/meter.ts'
import type { Model } from '../../models/model.ts'
import { modelAt } from '../../models/price-hours.ts'
import { ratesOf } from '../../models/quoted-rates.ts'
import { holdLines } from '../../models/rates.ts'
import { dearestPrices } from '../../models/step-prices.ts'
import { ordinaryTiers } from '../../models/tiers.ts'
import { isDiverged } from '../../proof/log/divergence.ts'
import type { QuoteRow } from '../../storage/db/schema/schema.ts'
import { anyAccount, type Quote, quoteDigest } from '../../verify/quote.ts'
import type { QuoteBody } from './api/quote-body.ts'
import { quoteRows } from './quote-rows.ts'
import { toQuotedRate } from './quotes.ts'

/** The most quotes of an account that have not expired. */
const openMost = 1000
/** Items that the list of rates of a quote has room for. */
const ratesMost = 128

type Needs = Pick<
  Deps,
  | 'catalogue'
  | 'clock'
  | 'health'
  | 'heads'
  | 'ids'
  | 'ledger'
  | 'logStore'
  | 'plans'
  | 'quotes'
  | 'random'
  | 'settings'
  | 'signer'
>

type QuoteRequest = {
  caller: Caller
  model: Model
  wish: QuoteBody
  once?: Once<QuoteRow> | undefined
}

/**
 * Signs and stores a quote; reserves no money.
 * @throws Refusal `invalid_request`, `model_not_allowed`, `conflict` for too many, `log_diverged`,
 * `account_suspended`, `idempotency_mismatch`, or one for the state of the key
 */
export async function makeQuote(deps: Needs, asked: QuoteRequest): Promise<QuoteRow> {
  const { caller, model, once } = asked
  if (isDiverged(deps.health)) refuse('log_diverged')
  await deps.heads.assertChecked()
  assertModelAllowed(caller.chain, model.id)
  assertModelInPlan(caller.plan, model.id)
  const open = await deps.quotes.countOpen(caller.account, deps.clock.now())
  if (open >= openMost) {
    refuse('conflict', `An account has at most ${openMost} open quotes. Wait for some to expire.`)
  }
  const quote = await quoteOf(deps, asked)
  const digest = quoteDigest(quote)
  const row: QuoteRow = {
    digest: toHex(digest),
    id: quote.id,
    accountId: caller.account,
    keyId: caller.key.id,
    quote,
    signature: deps.signer.sign(digest),
    uses: Number(quote.uses),
    used: 0,
    expiresAt: Number(quote.expires_at),
  }
  return deps.ledger.post({
    account: caller.account,
    keys: caller.key.lineage,
    call: once?.scope,
    parts: [quoteRows.of(row.digest)],
    decide(unit) {
      deps.heads.assertOpen()
      once?.assertFirst(unit)
      const chain = caller.key.lineage.map((id) => unit.key(id) ?? refuse('invalid_key'))
      assertUsable(chain, unit.now)
      if (unit.account(caller.account)?.status !== 'active') refuse('account_suspended')
      unit.part(quoteRows).added.push(row)
      once?.note(unit, row)
      return row
    },
  })
}

async function quoteOf(deps: Needs, { caller, model, wish }: QuoteRequest): Promise<Quote> {
  const isForAny = wish.account === 'any'
  const tier = tierOf(model, wish.service_tier)
  const now = deps.clock.now()
  // The hour of the quote counts, also for runs at another one.
  const prices = dearestPrices(modelAt(model, now))
  const rates = ratesOf(prices, tier)
  if (rates.length > ratesMost) {
    refuse('invalid_request', `This model has more than ${ratesMost} rates, too many for a quote.`)
  }
  const discountBps = isForAny ? 0 : discountFor(caller.plan, model.id)
  const most = {
    inputTokens: wish.max_input_tokens,
    outputTokens: model.kind === 'embedding' ? 0 : wish.max_output_tokens,
    tier,
  }
  const cost = costOf(holdLines(prices, model.kind, most), discountBps)
  if (cost > maxNusd) {
    refuseField(
      'max_output_tokens',
      'This could cost more than any balance can hold. Lower the tokens.',
    )
  }
  const { id: list, version } = deps.catalogue.priceListOf(model)
  return {
    id: deps.ids.make('quote'),
    issuer: deps.settings.issuer,
    account: isForAny ? anyAccount : caller.account,
    model: model.id,
    rates: rates.map(toQuotedRate),
    price_list: `${list}@${version}`,
    discount_bps: String(discountBps),
    max_input_tokens: String(most.inputTokens),
    max_output_tokens: String(most.outputTokens),
    max_nusd: String(cost),
    uses: String(wish.uses ?? 1),
    issued_at: String(now),
    expires_at: String(now + wish.valid_s * 1000),
    log_size: String(await deps.logStore.size()),
    nonce: toHex(deps.random.bytes(32)) as Hex,
  }
}

/** @throws Refusal `invalid_request` for a tier that the model has no rates for */
function tierOf({ id, prices }: Model, tier: string | undefined): string | undefined {
  if (tier === undefined || ordinaryTiers.has(tier)) return undefined
  if (prices.card?.tiers.some(({ name }) => name === tier)) return tier
  return refuseField('service_tier', `${id} has no rates for this tier. Leave service_tier out.`)
}
