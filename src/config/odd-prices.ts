/** Finds prices that are a slip of the unit: a thousand or a million times off. */
import { type Nusd, toPrice, toUsd } from '../kernel/money.ts'
import { hoursText } from '../models/hours.ts'
import { costFields, type PricesConfig, type RatesConfig } from '../models/rate-fields.ts'
import type { Config } from './config.ts'
import { readableOf } from './money-values.ts'
import { rows, valueIn } from './table.ts'

/** No model is this cheap or this dear a token: 0.005 and 2,000 USD a million, in pico-USD. */
const tokenPrice = { least: 5000n, most: 2_000_000_000n }
/** A token read from a cache costs a tenth or less of another one. */
const cachedLeast = 250n
/** Plausible prices of a run or a search, and amounts of limits and plans, in nano-USD. */
const callPrice = { least: 10_000n, most: 100_000_000_000n }
const amounts = { least: 1_000_000n, most: 9_000_000_000_000_000n }
const planPrice = { least: 10_000_000n, most: 1_000_000_000_000n }
/** Writing costs the same as reading or some times more, at no provider a hundred times. */
const ratioMost = 100n

/** Each price that looks wrong, in sentences without a full stop; free is not wrong. */
export function oddPrices(config: Config): string[] {
  return [
    ...config.models.flatMap((model) => [
      ...oddIn(model, model.id),
      ...(model.hours ?? []).flatMap((one) => oddIn(one, `${model.id} from ${hoursText(one)}`)),
      ...(model.route ?? []).flatMap((step) =>
        typeof step === 'string'
          ? []
          : [
              ...(step.cost ? oddIn(step.cost, `the cost of ${step.to}`) : []),
              ...(step.prices ? oddIn(step.prices, `${model.id} at ${step.to}`) : []),
            ],
      ),
    ]),
    ...config.plans.flatMap(({ id, price_nusd: price }) =>
      price === undefined || isWithin(price, planPrice)
        ? []
        : [`price_nusd of the plan ${id} is $${toUsd(price)} a period`],
    ),
    ...oddAmounts(config),
  ]
}

type Range = { least: bigint; most: bigint }

/** Also true of 0: what is free is meant to be. */
const isWithin = (value: bigint, { least, most }: Range): boolean =>
  value === 0n || (value >= least && value <= most)

function oddIn(prices: PricesConfig, of: string): string[] {
  const { bands = [], tiers = [] } = prices
  return [
    ...oddRates(prices, of),
    ...bands.flatMap((band) => oddRates(band, `${of} above ${band.above_input_tokens} tokens`)),
    ...tiers.flatMap((tier) => oddRates(tier, `${of} at the tier ${tier.name}`)),
  ]
}

function oddRates(rates: RatesConfig, of: string): string[] {
  const odd: string[] = []
  for (const field of Object.keys(costFields) as (keyof RatesConfig)[]) {
    const price = rates[field]
    if (price === undefined || isWithin(BigInt(price), rangeOf(field))) continue
    odd.push(`${field} of ${of} is ${priceInWords(field, BigInt(price))}`)
  }
  const [input, output] = [BigInt(rates.input_pusd ?? 0), BigInt(rates.output_pusd ?? 0)]
  const isFree = input === 0n || output === 0n
  if (odd.length === 0 && !isFree && (output > input * ratioMost || input > output * ratioMost)) {
    const [read, written] = [toPrice(input), toPrice(output)].map((one) => inMillions(one))
    odd.push(`${of} reads for ${read} and writes for ${written}`)
  }
  return odd
}

const rangeOf = (field: string): Range =>
  field.endsWith('_nusd')
    ? callPrice
    : field === 'cache_read_pusd'
      ? { ...tokenPrice, least: cachedLeast }
      : tokenPrice

/** A price as people compare it. */
const priceInWords = (field: string, price: bigint): string =>
  field.endsWith('_nusd') ? `$${toUsd(price)} each` : inMillions(toPrice(price))

const inMillions = (price: string): string => `$${price.replace('/M', '')} a million tokens`

/** Settings of single amounts, such as the budget of the terminal. */
function oddAmounts(config: Config): string[] {
  return rows.flatMap((row) => {
    if (readableOf(row.name) === undefined) return []
    const value = valueIn(config, row) as Nusd | undefined
    if (value === undefined || isWithin(value, amounts)) return []
    return [`${row.path} is $${toUsd(value)}`]
  })
}

/** How to mend it. */
export const oddPriceFix = 'write it as people read it: input = "$0.15/M", price = "$20"'
