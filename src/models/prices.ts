/** Prices as the configuration, the price list and the API write them. */
import { toJsonInteger } from '../kernel/money.ts'
import { utcZone } from '../kernel/zone.ts'
import { days } from './hours.ts'
import type { Model } from './model.ts'
import { type PricesConfig, type RatesConfig, rateFields } from './rate-fields.ts'
import { makePrices, type Prices, type Rates } from './rates.ts'

const fields = Object.entries(rateFields) as [keyof RatesConfig, keyof Rates][]

/** The prices of a configuration without faults. */
export function toPrices(config: PricesConfig): Prices {
  const { input, output, ...classes } = toRates(config)
  const own = {
    inputPusd: input ?? 0n,
    outputPusd: output ?? 0n,
    requestNusd: BigInt(config.request_nusd ?? 0),
  }
  return makePrices(own, {
    classes,
    bands: (config.bands ?? []).map((band) => ({
      aboveInputTokens: band.above_input_tokens,
      rates: toRates(band),
    })),
    tiers: (config.tiers ?? []).map((tier) => ({ name: tier.name, rates: toRates(tier) })),
  })
}

/** Reads the rates that are named, in pico-USD a unit. */
export function toRates(config: RatesConfig): Rates {
  const named = fields.filter(([field]) => config[field] !== undefined)
  return Object.fromEntries(
    named.map(([field, meter]) => [meter, BigInt(config[field] ?? 0) * unitOf(field)]),
  )
}

/** Pico-USD in one of what a field counts. */
const unitOf = (field: string): bigint => (field.endsWith('_nusd') ? 1000n : 1n)

type NamedRates<T> = { [Field in keyof RatesConfig]?: T }

/** Rates by the names of the configuration; those of classes only where there are any. */
function namedRates<T>(rates: Rates, write: (amount: bigint) => T): NamedRates<T> {
  const named = fields.filter(([, meter]) => rates[meter] !== undefined)
  return Object.fromEntries(
    named.map(([field, meter]) => [field, write((rates[meter] ?? 0n) / unitOf(field))]),
  )
}

/**
 * All rates of one list of prices: what price lists are digested over, and what is shown. Without
 * classes, bands and tiers there are three members.
 */
export function writePrices<T>(prices: Prices, write: (amount: bigint) => T) {
  const { inputPusd, outputPusd, requestNusd, card } = prices
  const bands = card?.bands.map(({ aboveInputTokens, rates }) => ({
    above_input_tokens: aboveInputTokens,
    ...namedRates(rates, write),
  }))
  const tiers = card?.tiers.map(({ name, rates }) => ({ name, ...namedRates(rates, write) }))
  return {
    input_pusd: write(inputPusd),
    output_pusd: write(outputPusd),
    request_nusd: write(requestNusd),
    ...(card ? namedRates(card.classes, write) : {}),
    ...(bands?.length ? { bands } : {}),
    ...(tiers?.length ? { tiers } : {}),
  }
}

type PricesOf = Pick<Model, 'prices' | 'route' | 'varied' | 'hours'>

/**
 * The prices of a model, and beside them those of some hours and those of other servers of its
 * route, each once: it stays hidden which server they are of.
 */
export function writeModelPrices<T>(model: PricesOf, write: (amount: bigint) => T) {
  const hours = model.hours?.windows.map(({ of, model: { prices } }) => ({
    from: of.from,
    to: of.to,
    days: [...(of.days ?? days)],
    zone: of.zone ?? utcZone,
    ...writePrices(prices, write),
  }))
  const others = othersOf(model).map((prices) => writePrices(prices, write))
  return {
    ...writePrices(model.prices, write),
    ...(others.length === 0 ? {} : { others }),
    ...(hours ? { hours } : {}),
  }
}

function othersOf({ prices, route, varied }: PricesOf): Prices[] {
  if (!varied) return []
  const texts = new Set([textOf(prices)])
  return route.flatMap(({ prices: other }) => {
    const text = other && textOf(other)
    if (!other || text === undefined || texts.has(text)) return []
    texts.add(text)
    return [other]
  })
}

/** Equal for prices that are. */
export const textOf = (prices: Prices): string => JSON.stringify(writePrices(prices, String))

export const toPricesView = (model: PricesOf) => writeModelPrices(model, toJsonInteger)
