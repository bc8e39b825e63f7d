/** Decides by which rates a run is billed: its tier, and the classes of what it read and wrote. */
import type { Json } from '../kernel/canonical.ts'
import type { Bound } from './bound.ts'
import { inputClasses, outputClasses, type Usage, type UsageClass } from './meter.ts'
import { type Prices, type RateStep, stepFor } from './rate-card.ts'
import type { Reported } from './reported-counts.ts'
import { ordinaryTiers } from './tiers.ts'

/** One side of a usage. `believed`: the number is the reported one. */
export type Decided = { tokens: number; believed: boolean }

/** The run: its bound, its model's prices, and the tier that the answer names. */
type Billed = { bound: Bound; prices: Prices; tier?: Json | undefined }

/**
 * The tier to bill: the one the answer names, unless that is dearer than what was held for. A name
 * without rates is the ordinary tier where it says so, and else the one that was asked for.
 */
export function tierOf({ bound, prices, tier: said }: Billed): string | undefined {
  const { card } = prices
  if (!card || card.tiers.length === 0) return undefined
  if (said === bound.tier || typeof said !== 'string') return bound.tier
  if (ordinaryTiers.has(said)) return undefined
  if (!card.steps.has(said)) return bound.tier
  return isDearer(card.steps.get(said), card.steps.get(bound.tier ?? '')) ? bound.tier : said
}

function isDearer(
  steps: readonly RateStep[] | undefined = [],
  held: readonly RateStep[] | undefined = [],
): boolean {
  return steps.some((step, at) => {
    const other = held[at]
    return (
      other === undefined ||
      step.dearestInput > other.dearestInput ||
      step.dearestOutput > other.dearestOutput ||
      (step.rates.web_search ?? 0n) > (other.rates.web_search ?? 0n)
    )
  })
}

/** Keeps the classes of each side that is believed, as far as its bound goes. */
export function addClasses(
  usage: Usage,
  said: Reported,
  { bound, prices }: Billed,
  { input, output, searches }: { input: Decided; output: Decided; searches: number },
): void {
  const step = stepFor(prices, usage)
  const kept: { [Class in UsageClass]?: number } = {}
  const keep = (
    names: readonly UsageClass[],
    [total, most]: [total: number, most: number],
    rateOf: (meter: UsageClass) => bigint,
    rest: bigint,
  ): void => {
    let inClasses = 0
    for (const name of names) inClasses += said.classes?.[name] ?? 0
    const all = names.map((name) => ({
      name,
      units: said.classes?.[name] ?? 0,
      rate: rateOf(name),
    }))
    const plain = { name: undefined, units: total - inClasses, rate: rest }
    // What is beyond the bound is taken from the cheapest units, so more never costs less.
    let left = Math.min(total, most)
    for (const { name, units } of [plain, ...all].sort((a, b) => compare(b.rate, a.rate))) {
      const taken = Math.min(left, units)
      left -= taken
      if (name !== undefined && taken > 0) kept[name] = taken
    }
  }
  const { rates, dearestInput } = step
  if (input.believed) {
    const rateOf = (meter: UsageClass) => rates[meter] ?? dearestInput
    keep(inputClasses, [input.tokens, usage.inputTokens], rateOf, rates.input ?? 0n)
  }
  if (output.believed && output.tokens > 0) {
    const rateOf = (meter: UsageClass) => rates[meter] ?? rates.output ?? 0n
    keep(outputClasses, [output.tokens, usage.outputTokens], rateOf, rates.output ?? 0n)
  }
  const found = Math.min(searches, bound.webSearches ?? 0)
  if (found > 0) kept.web_search = found
  if (Object.keys(kept).length > 0) usage.classes = kept
}

const compare = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0)
