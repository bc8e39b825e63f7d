/** Writes the prices of a model as the rates of a quote, and reads them back. */
import type { Pusd } from '../kernel/money.ts'
import { type Prices, type RateStep, type Rates, stepFor, toStep } from './rates.ts'

/**
 * The price of a unit of a meter, in pico-USD, in a run of a tier ('' for the ordinary one) that
 * reads `fromInputTokens` or more, up to where the next rates begin.
 */
export type RateOf = { tier: string; fromInputTokens: number; meter: string; price: Pusd }

/** The rates of a run that asks for a tier: its own, and those of the ordinary one. */
export function ratesOf(prices: Prices, tier: string | undefined): RateOf[] {
  const { card, requestNusd } = prices
  const names = tier === undefined ? [''] : ['', tier]
  const steps = names.flatMap((name): [string, RateStep][] =>
    card
      ? (card.steps.get(name) ?? []).map((step) => [name, step])
      : [[name, stepFor(prices, { inputTokens: 0 })]],
  )
  return steps.flatMap(([name, { aboveInputTokens, rates }]) => {
    const step = { tier: name, fromInputTokens: aboveInputTokens + 1 }
    const own = Object.entries(rates).map(([meter, price]) => ({ ...step, meter, price }))
    return [...own, { ...step, meter: 'request', price: requestNusd * 1000n }]
  })
}

/** The prices that a run of such rates is held and charged by. @throws Error without any rate */
export function pricesFrom(rates: readonly RateOf[]): Prices {
  const byTier = Map.groupBy(rates, ({ tier }) => tier)
  const steps = new Map([...byTier].map(([tier, own]) => [tier, stepsFrom(own)]))
  const base = steps.get('')?.[0]
  if (!base) throw new Error('a quote without rates')
  const { input = 0n, output = 0n, ...classes } = base.rates
  const request = rates.find(({ meter }) => meter === 'request')?.price ?? 0n
  const own = { inputPusd: input, outputPusd: output, requestNusd: request / 1000n }
  const isPlain = steps.size === 1 && steps.get('')?.length === 1
  if (isPlain && Object.keys(classes).length === 0) return own
  const bands = (steps.get('') ?? [])
    .slice(1)
    .map(({ aboveInputTokens, rates: differing }) => ({ aboveInputTokens, rates: differing }))
  const named = [...steps].filter(([name]) => name !== '')
  const tiers = named.map(([name, [first]]) => ({ name, rates: first?.rates ?? {} }))
  return { ...own, card: { classes, bands, tiers, steps } }
}

function stepsFrom(rates: readonly RateOf[]): RateStep[] {
  const byStart = Map.groupBy(rates, ({ fromInputTokens }) => fromInputTokens)
  return [...byStart]
    .sort(([a], [b]) => a - b)
    .map(([from, own]) => {
      const priced = own.filter(({ meter }) => meter !== 'request')
      const named = priced.map(({ meter, price }) => [meter, price] as const)
      return toStep(from - 1, Object.fromEntries(named) as Rates)
    })
}
