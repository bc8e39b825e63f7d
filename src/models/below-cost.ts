/** Finds models whose prices are below what a step of their route costs the operator. */
import { type Nusd, type Pusd, toUsd } from '../kernel/money.ts'
import { hoursText } from './hours.ts'
import { inputClasses, type Meter, outputClasses } from './meter.ts'
import type { Model, RouteStep } from './model.ts'
import { type Prices, type RateStep, stepFor } from './rates.ts'
import { pricesAt } from './step-prices.ts'

/** A price below its cost, both in pico-USD a unit. */
export type BelowCost = {
  model: string
  /** `upstream:model`. */
  step: string
  meter: Meter
  price: Pusd
  cost: Pusd
  /** The tier of the runs; undefined for the ordinary one. */
  tier: string | undefined
  /** The input that the runs are above, in tokens; 0 for all. */
  aboveInputTokens: number
  /** The hours in which it is; undefined at all others. */
  hours?: string | undefined
}

/**
 * Lists what is sold below cost: of each step and meter the first tier and band where it is, in
 * each of the hours with prices of their own. With a discount, in 0.01 %, only what that brings
 * below cost.
 */
export function belowCost(models: readonly Model[], discountBps?: number): BelowCost[] {
  return models.flatMap((model) => {
    if (model.status === 'disabled') return []
    const plain = lossesOf(model, 0)
    if (discountBps === undefined) return firstOfEach(plain)
    if (discountBps === 0) return []
    const known = new Set(plain.map(placeOf))
    return firstOfEach(lossesOf(model, discountBps).filter((one) => !known.has(placeOf(one))))
  })
}

/** One finding in words, without a full stop. */
export function belowCostWords({ model, step, meter, ...rest }: BelowCost): string {
  const { price, cost, tier, aboveInputTokens, hours } = rest
  const where = [
    ...(hours === undefined ? [] : [hours]),
    ...(tier === undefined ? [] : [`tier ${tier}`]),
    ...(aboveInputTokens === 0 ? [] : [`above ${aboveInputTokens.toLocaleString('en-US')} tokens`]),
  ]
  const when = where.length === 0 ? '' : ` (${where.join(', ')})`
  const [sold, paid] = [price, cost].map((pusd) => `$${toUsd(shown(meter, pusd))}`)
  return `${model} sells ${meter} at ${sold}${when}, ${step} costs ${paid} ${unitOf(meter)}`
}

const isCall = (meter: Meter): boolean => meter === 'request' || meter === 'web_search'

/** Converts to nano-USD for a million tokens, or for one call. */
const shown = (meter: Meter, pusd: Pusd): Nusd => (isCall(meter) ? pusd / 1000n : pusd * 1000n)

const unitOf = (meter: Meter): string =>
  isCall(meter) ? (meter === 'request' ? 'a run' : 'a call') : 'per 1M tokens'

const nameOf = ({ step, meter, hours = '' }: BelowCost): string => `${hours} ${step} ${meter}`

/** The exact place of a loss: a discount may bring one below cost beside another that was. */
const placeOf = (one: BelowCost): string =>
  `${nameOf(one)} ${one.aboveInputTokens} ${one.tier ?? ''}`

function firstOfEach(losses: readonly BelowCost[]): BelowCost[] {
  const found = new Map<string, BelowCost>()
  for (const loss of losses) {
    const name = nameOf(loss)
    if (!found.has(name)) found.set(name, loss)
  }
  return [...found.values()]
}

/** Lists the losses at all places, those at the usual hours first. */
function lossesOf(model: Model, bps: number): BelowCost[] {
  const usual = model.route.flatMap((step) => lossesAt(model, step, bps))
  const others = (model.hours?.windows ?? []).flatMap(({ of, model: then }) => {
    // Steps with prices of their own keep these at any hour.
    const steps = then.route.filter(({ prices }) => !prices)
    const found = steps.flatMap((step) => lossesAt(then, step, bps))
    return found.map((loss) => ({ ...loss, hours: hoursText(of) }))
  })
  return [...usual, ...others]
}

const lossesAt = (of: Model, step: RouteStep, bps: number): BelowCost[] =>
  step.cost ? [...lossesWith(of, step, step.cost, bps)] : []

function* lossesWith(of: Model, step: RouteStep, cost: Prices, bps: number): Generator<BelowCost> {
  const { id, kind } = of
  const prices = pricesAt(of, step)
  const name = `${step.upstream}:${step.model}`
  const tiers = [undefined, ...(prices.card?.tiers.map(({ name }) => name) ?? [])]
  const edges = [prices, cost].flatMap(({ card }) => card?.bands ?? [])
  const above = [0, ...edges.map(({ aboveInputTokens }) => aboveInputTokens)]
  for (const tier of tiers) {
    for (const aboveInputTokens of above.sort((a, b) => a - b)) {
      const used = { inputTokens: aboveInputTokens + 1, tier }
      const [sold, paid] = [stepFor(prices, used), stepFor(cost, used)]
      const pairs = [...rated(sold, paid, kind === 'chat'), requests(prices, cost)]
      for (const { meter, price, cost: each } of pairs) {
        if (price * BigInt(10_000 - bps) >= each * 10_000n) continue
        yield { model: id, step: name, meter, price, cost: each, tier, aboveInputTokens }
      }
    }
  }
}

type Pair = { meter: Meter; price: Pusd; cost: Pusd }

const requests = (prices: Prices, cost: Prices): Pair => ({
  meter: 'request',
  price: prices.requestNusd * 1000n,
  cost: cost.requestNusd * 1000n,
})

/** The price and the cost of a unit of each meter, with the fallbacks of both. */
function* rated(sold: RateStep, paid: RateStep, isChat: boolean): Generator<Pair> {
  const pair = (meter: Meter, of: (step: RateStep) => Pusd): Pair => ({
    meter,
    price: of(sold),
    cost: of(paid),
  })
  yield pair('input', ({ rates }) => rates.input ?? 0n)
  for (const meter of inputClasses) {
    const isNamed = sold.rates[meter] !== undefined || paid.rates[meter] !== undefined
    if (isNamed) yield pair(meter, ({ rates, dearestInput }) => rates[meter] ?? dearestInput)
  }
  if (!isChat) return
  yield pair('output', ({ rates }) => rates.output ?? 0n)
  for (const meter of outputClasses) {
    const isNamed = sold.rates[meter] !== undefined || paid.rates[meter] !== undefined
    if (isNamed) yield pair(meter, ({ rates }) => rates[meter] ?? rates.output ?? 0n)
  }
  yield pair('web_search', ({ rates }) => rates.web_search ?? 0n)
}
