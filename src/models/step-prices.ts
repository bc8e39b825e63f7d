/** The prices of a model that costs something else where another server of its route answers. */
import { max, type Pusd } from '../kernel/money.ts'
import { inputClasses, type Meter, outputClasses } from './meter.ts'
import type { Model, RouteStep, VariedPrices } from './model.ts'
import { textOf } from './prices.ts'
import { pricesFrom, type RateOf } from './quoted-rates.ts'
import { type Prices, type RateStep, stepFor } from './rates.ts'

/** The prices of a run that a step answers. */
export const pricesAt = (
  { prices }: Pick<Model, 'prices'>,
  step: Pick<RouteStep, 'prices'> | undefined,
): Prices => step?.prices ?? prices

/** The prices of a model: those of its first step where each step has its own. */
export const modelPrices = (named: Prices, route: readonly RouteStep[]): Prices =>
  (route.every((step) => step.prices) && route[0]?.prices) || named

type PricesOf = Pick<Model, 'prices' | 'varied' | 'hours'>

/** The prices that no run of a model exceeds, whichever server answers at whichever hour. */
export const dearestPrices = ({ prices, varied, hours }: PricesOf): Prices =>
  hours?.dearest ?? varied?.dearest ?? prices

/** Undefined where all steps sell at the prices of the model, as nearly always. */
export function variedPrices(
  prices: Prices,
  route: readonly RouteStep[],
): VariedPrices | undefined {
  if (!route.some((step) => step.prices !== undefined)) return undefined
  const byText = new Map(
    route.map((step) => pricesAt({ prices }, step)).map((list) => [textOf(list), list]),
  )
  // Equal ones are one list: that of the model, if it is among them.
  if (byText.has(textOf(prices))) byText.set(textOf(prices), prices)
  const lists = [...byText.values()]
  return { lists, dearest: dearestOf(lists) }
}

/** A model with the steps of its route that can be asked: prices of others are none of its own. */
export function withRoute(model: Model, route: RouteStep[]): Model {
  return model.varied
    ? { ...model, route, varied: variedPrices(model.prices, route) }
    : { ...model, route }
}

/** A model that sells at these prices, whichever server answers at whichever hour. */
export function withPrices({ hours: _, ...model }: Model, prices: Prices): Model {
  if (!model.varied) return { ...model, prices }
  const route = model.route.map(({ prices: __, ...step }) => step)
  return { ...model, prices, route, varied: undefined }
}

/** The dearest rate of each meter, by tier and by input. */
export function dearestOf(lists: readonly Prices[]): Prices {
  const cards = lists.flatMap(({ card }) => card ?? [])
  const tiers = new Set(['', ...cards.flatMap((card) => card.tiers.map(({ name }) => name))])
  const edges = new Set([
    -1,
    ...cards.flatMap((card) => card.bands.map(({ aboveInputTokens }) => aboveInputTokens)),
  ])
  const request = lists.map(({ requestNusd }) => requestNusd * 1000n).reduce(max)
  const rates = [...tiers].flatMap((tier) =>
    [...edges].flatMap((edge): RateOf[] => {
      const steps = lists.map((prices) => stepFor(prices, { inputTokens: edge + 1, tier }))
      const of = { tier, fromInputTokens: edge + 1 }
      const own = dearestRates(steps).map(([meter, price]) => ({ ...of, meter, price }))
      return [...own, { ...of, meter: 'request', price: request }]
    }),
  )
  return pricesFrom(rates)
}

function dearestRates(steps: readonly RateStep[]): [Meter, Pusd][] {
  const isNamed = (meter: Exclude<Meter, 'request'>) =>
    steps.some(({ rates }) => rates[meter] !== undefined)
  const most = (of: (step: RateStep) => Pusd): Pusd => steps.map(of).reduce(max)
  const output = ({ rates }: RateStep): Pusd => rates.output ?? 0n
  return [
    ['input', most(({ rates }) => rates.input ?? 0n)],
    ['output', most(output)],
    // A class without a rate falls back as it does in a run.
    ...inputClasses
      .filter(isNamed)
      .map((meter): [Meter, Pusd] => [
        meter,
        most(({ rates, dearestInput }) => rates[meter] ?? dearestInput),
      ]),
    ...outputClasses
      .filter(isNamed)
      .map((meter): [Meter, Pusd] => [meter, most((step) => step.rates[meter] ?? output(step))]),
    ...(isNamed('web_search')
      ? [['web_search', most(({ rates }) => rates.web_search ?? 0n)] as [Meter, Pusd]]
      : []),
  ]
}
