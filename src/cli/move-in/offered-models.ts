/** Finds price and limits of each found model, of all its servers together the dearest. */
import type { Millis } from '../../kernel/clock.ts'
import { compareDecimals, type Decimal, isZero } from '../../kernel/decimal.ts'
import { isExactObject, NumberText } from '../../kernel/exact-json.ts'
import type { ModelKind } from '../../models/meter.ts'
import { readLitellm } from '../../models/price-files/litellm.ts'
import {
  type OfferedModel,
  priceIn,
  tokensIn,
  type UsdRates,
} from '../../models/price-files/price-file.ts'
import { offersOf } from '../../models/providers/offers.ts'
import type { Deployment, ExactTable } from './found.ts'

/** Facts beside those of the other gateway. */
export type MoreFacts = {
  /** LiteLLM's public price file, for models that nothing else prices. */
  prices: ExactTable
  /** The context of models of which none is published. */
  contextTokens: number | undefined
  now: Millis
}

const noPrice = 'no published price: --prices'

/** A deployment with its prices and limits; otherwise what is missing. */
export async function offeredBy(
  id: string,
  deployment: Deployment,
  facts: MoreFacts,
): Promise<OfferedModel | string> {
  const offered = await found(id, deployment, facts)
  if (typeof offered === 'string') return offered
  if (isFree(offered)) return 'a price of zero: enter its price in [[models]]'
  const own = Object.entries(deployment.facts)
  if (!own.some(([name]) => isCost(name))) return offered
  // At an address of their own they may buy for less than what is published.
  if (deployment.baseUrl !== undefined) return offered
  const others = Object.fromEntries(own.filter(([name]) => !isCost(name)))
  const cost = await found(id, { ...deployment, facts: others }, facts)
  if (cost === noPrice) return offered
  // It may hold a band or a class of tokens that is dearer than the own price.
  if (typeof cost === 'string') return `its published price cannot be compared: ${cost}`
  if (deployment.isSold && offered.rates.request_nusd && !cost.rates.request_nusd) {
    return 'a price of a call, where its server bills tokens: enter its price in [[models]]'
  }
  return dearestOf([offered, cost]) ?? offered
}

/** Whether a class of tokens that a run is made of costs nothing, and the run itself neither. */
function isFree({ kind, rates, bands, tiers }: OfferedModel): boolean {
  const isPaid = (usd: Decimal | undefined) => usd !== undefined && !isZero(usd)
  if (isPaid(rates.request_nusd)) return false
  const needed =
    kind === 'chat' ? (['input_pusd', 'output_pusd'] as const) : ['input_pusd' as const]
  return [rates, ...bands.map((band) => band.rates), ...tiers.map((tier) => tier.rates)].some(
    (some) => needed.some((name) => !isPaid(some[name] ?? rates[name])),
  )
}

async function found(
  id: string,
  { provider, upstreamName, publicNames, facts }: Deployment,
  { prices, contextTokens, now }: MoreFacts,
): Promise<OfferedModel | string> {
  const published = publicNames.map((name) => prices[name]).find(isExactObject) ?? {}
  const isEmbedding = /embed|(^|\/)(bge|e5|gte)-|m3e/i.test(upstreamName)
  const mode = isEmbedding ? 'embedding' : 'chat'
  const entry: ExactTable = { mode, ...published, ...facts }
  if (Object.hasOwn(facts, 'input_cost_per_token')) {
    // A price of its own goes before the published one, but nothing is sold below cost.
    for (const name of Object.keys(published)) {
      if (isCost(name) && !Object.hasOwn(facts, name) && !isAboveOwn(name, published, facts)) {
        delete entry[name]
      }
    }
  }
  const whole = readLitellm({ [id]: entry }, { wants: () => true, without: new Set() })
  const [model] = whole.models
  if (model) return { ...model, id, upstreamName }
  const [refused] = whole.refused
  if (refused) return `prices without a meter here (${refused.dimensions.join(', ')})`
  const odd = /^mode /.exec([...whole.leftOut.keys()][0] ?? '')
  if (odd) return `its ${odd.input}`
  const priced = pricesIn(id, entry)
  const own = priced?.rates
  const isOwn = Object.keys(facts).some(isCost)
  if ((isOwn || priced) && !isWhole(priced)) {
    return 'half a price: its prices need both of input and output, and bands need limits'
  }
  const names = publicNames.map((name) => name.slice(name.indexOf('/') + 1))
  for (const name of [...new Set([...publicNames, ...names])]) {
    const listed = {
      ...{ id: name, name: undefined, kind: kindOf(entry), features: featuresOf(entry) },
      contextTokens: tokensIn(entry['max_input_tokens'] ?? entry['max_tokens']),
      ...{ maxOutputTokens: tokensIn(entry['max_output_tokens']), rates: undefined },
    }
    const wish = { prices: own, contextTokens }
    const offers = await offersOf(provider, { listed: [listed], priced: [] }, wish, now)
    const [offer] = offers.models
    // Its own prices go before those that the data of a provider has.
    const price = own && isOwn ? { rates: own, bands: [], tiers: [] } : {}
    if (offer) return { ...offer, ...price, id, upstreamName }
  }
  return own ? 'no published context: name it with --context' : noPrice
}

/** Whether a published price of tokens is above the own one that is charged in its place. */
function isAboveOwn(name: string, published: ExactTable, facts: ExactTable): boolean {
  if (!name.includes('token')) return false
  const whole = /output|reasoning/.test(name) ? 'output_cost_per_token' : 'input_cost_per_token'
  const base = facts[name.replace(/_above_\d+k_tokens$/, '')] ?? facts[whole]
  const [price, own] = [priceIn(published[name]), priceIn(base)]
  return price !== undefined && own !== undefined && isDearer(price, own)
}

const isCost = (name: string): boolean => /cost|pricing/.test(name)

/** Whether rates alone say all of its prices. */
const isWhole = (priced: OfferedModel | undefined): boolean =>
  priced?.bands.length === 0 && priced.tiers.length === 0

const kindOf = ({ mode }: ExactTable): ModelKind => (mode === 'embedding' ? 'embedding' : 'chat')

const featuresOf = (entry: ExactTable): string[] =>
  kindOf(entry) === 'embedding'
    ? []
    : ['streaming', ...(entry['supports_function_calling'] === false ? [] : ['tools'])]

/** The prices of an entry that lacks its limits. */
function pricesIn(id: string, entry: ExactTable): OfferedModel | undefined {
  if (entry['input_cost_per_token'] === undefined) return undefined
  const whole = { ...entry, ...someLimits }
  const read = readLitellm({ [id]: whole }, { wants: () => true, without: new Set() })
  return read.models[0]
}

/** Stand in for limits that are missing, so that the prices can be read. */
const someLimits: ExactTable = {
  max_input_tokens: new NumberText('1'),
  max_output_tokens: new NumberText('1'),
}

/** One model that no server of several sells below its cost, within the limits of each. */
export function dearestOf(models: readonly OfferedModel[]): OfferedModel | undefined {
  const [first, ...others] = models
  if (!first || others.length === 0) return first
  const contextTokens = Math.min(...models.map((one) => one.contextTokens))
  const total = Math.min(...models.map((one) => one.totalTokens ?? one.contextTokens))
  const thresholds = models.flatMap(({ bands }) => bands.map((band) => band.aboveInputTokens))
  const tiers = first.tiers.filter(({ name }) => others.every((one) => tierOf(one, name)))
  return {
    ...first,
    contextTokens,
    totalTokens: total > contextTokens ? total : undefined,
    maxOutputTokens: Math.min(...models.map((one) => one.maxOutputTokens)),
    features: first.features.filter((name) => others.every((one) => one.features.includes(name))),
    rates: dearestRates(models.map(({ rates }) => rates)),
    bands: [...new Set(thresholds)]
      .sort((a, b) => a - b)
      .map((above) => ({
        aboveInputTokens: above,
        rates: dearestRates(models.map((one) => ratesAbove(one, above))),
      })),
    tiers: tiers.map(({ name }) => ({
      name,
      rates: dearestRates(models.map((one) => ({ ...one.rates, ...tierOf(one, name) }))),
    })),
    imageTokensMax: largest(models.map((one) => one.imageTokensMax)),
  }
}

const tierOf = ({ tiers }: OfferedModel, name: string): UsdRates | undefined =>
  tiers.find((tier) => tier.name === name)?.rates

function ratesAbove({ rates, bands }: OfferedModel, above: number): UsdRates {
  const { request_nusd: _, ...own } = rates
  const begun = bands.filter((band) => band.aboveInputTokens <= above)
  return Object.assign({ ...own }, ...begun.map((band) => band.rates))
}

/**
 * The highest of each rate that any server has. A server without a rate of its own for a class
 * charges that of all input or output, which is compared in its place.
 */
function dearestRates(all: readonly UsdRates[]): UsdRates {
  const rates: UsdRates = {}
  const names = new Set(all.flatMap((one) => Object.keys(one) as (keyof UsdRates)[]))
  for (const name of names) {
    const whole = /output|reasoning/.test(name) ? 'output_pusd' : 'input_pusd'
    const isPerUnit = name.endsWith('_nusd')
    for (const one of all) {
      const price = one[name] ?? (isPerUnit ? undefined : one[whole])
      if (price && isDearer(price, rates[name])) rates[name] = price
    }
  }
  return rates
}

const isDearer = (a: Decimal, b: Decimal | undefined): boolean => !b || compareDecimals(a, b) > 0

const largest = (values: readonly (number | undefined)[]): number | undefined => {
  const known = values.filter((value) => value !== undefined)
  return known.length === 0 ? undefined : Math.max(...known)
}
