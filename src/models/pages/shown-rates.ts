/** The rates of a model as pages and the terminal show them. */
import { isCall } from '../../verify/meter-words.ts'
import { amountText } from '../../web/ui/amount.tsx'
import { hoursText } from '../hours.ts'
import { type Meter, meters } from '../meter.ts'
import type { Model } from '../model.ts'
import { isFree, type Prices, type Rates } from '../rates.ts'
import { dearestPrices } from '../step-prices.ts'

/** The price of one unit of a meter, in pico-USD. */
export type ShownRate = { meter: Meter; pusd: bigint }

/** Rates that hold together: a model's own, or those that a band or a tier changes. */
export type RateSection = { when: string | undefined; rates: readonly ShownRate[] }

type PricedModel = Pick<Model, 'prices' | 'kind' | 'varied' | 'hours'>

/** All rates of a model: its own, bands, tiers, then those of some hours and of other servers. */
export function rateSections({ prices, kind, varied, hours }: PricedModel): RateSection[] {
  const others = (varied?.lists ?? []).filter((list) => list !== prices)
  return [
    ...sectionsOf(prices, kind),
    ...(hours?.windows ?? []).flatMap(({ of, model }) =>
      named(`From ${hoursText(of)}`, sectionsOf(model.prices, kind)),
    ),
    ...others.flatMap((list, at) => {
      const server = `Another server${others.length === 1 ? '' : ` (${at + 1})`}`
      return named(server, sectionsOf(list, kind))
    }),
  ]
}

const named = (name: string, sections: readonly RateSection[]): RateSection[] =>
  sections.map(({ when, rates }) => ({
    when: when === undefined ? name : `${name}: ${when}`,
    rates,
  }))

function sectionsOf(prices: Prices, kind: Model['kind']): RateSection[] {
  const { inputPusd, outputPusd, requestNusd, card } = prices
  const output = kind === 'chat' ? { output: outputPusd } : {}
  const own = shown({ input: inputPusd, ...output, ...card?.classes })
  if (requestNusd > 0n) own.push({ meter: 'request', pusd: requestNusd * 1000n })
  const bands = (card?.bands ?? []).map(({ aboveInputTokens, rates }) => ({
    when: `Above ${aboveInputTokens.toLocaleString('en-US')} tokens of input`,
    rates: shown(rates),
  }))
  const tiers = (card?.tiers ?? []).map(({ name, rates }) => ({
    when: `service_tier ${name}`,
    rates: shown(rates),
  }))
  return [{ when: undefined, rates: own }, ...bands, ...tiers]
}

function shown(rates: Rates): ShownRate[] {
  return meters.flatMap((meter) => {
    const pusd = meter === 'request' ? undefined : rates[meter]
    return pusd === undefined ? [] : [{ meter, pusd }]
  })
}

/** Pico-USD a token are nano-USD a thousand tokens. */
export const perMillion = (pusd: bigint): bigint => pusd * 1000n

/** "$0.15 per 1M tokens", "$0.01 a call". */
export function rateText({ meter, pusd }: ShownRate): string {
  if (!isCall(meter)) return `${amountText(perMillion(pusd))} per 1M tokens`
  return `${amountText(pusd / 1000n)} a ${meter === 'request' ? 'run' : 'call'}`
}

/** A model's price in a line: "$3.00 in, $0.30 cached, $15.00 out per 1M, $0.01 a run". */
export function priceText(model: PricedModel, per: string): string {
  const text = textOf(dearestPrices(model), model.kind, per)
  return model.varied || model.hours ? `up to ${text}` : text
}

function textOf(prices: Prices, kind: Model['kind'], per: string): string {
  const { inputPusd, outputPusd, requestNusd, card } = prices
  const perRun = requestNusd === 0n ? [] : [`${amountText(requestNusd)} a run`]
  if (isFree({ ...prices, requestNusd: 0n })) return perRun[0] ?? 'free'
  const cached = card?.classes.cache_read
  const parts = [
    `${amountText(perMillion(inputPusd))} in`,
    ...(cached === undefined ? [] : [`${amountText(perMillion(cached))} cached`]),
    ...(kind === 'chat' ? [`${amountText(perMillion(outputPusd))} out`] : []),
  ]
  return [`${parts.join(', ')} ${per}`, ...perRun].join(', ')
}
