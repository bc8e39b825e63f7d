/** Decides by which rates a run is billed: its tier, and the classes of what it read and wrote. */
import type { Json } from '../kernel/canonical.ts'
import type { Bound } from './bound.ts'
import {
  inputClasses,
  outputClasses,
  type Usage,
  type UsageClass,
  type UsageClasses,
} from './meter.ts'
import {
  dearestInputOf,
  dearestOutputOf,
  inputRateOf,
  outputRateOf,
  type Prices,
  type RateStep,
  stepFor,
} from './rates.ts'
import { ordinaryTiers } from './tiers.ts'

/**
 * One side of a usage. `believed`: the number is the reported one, free of contradictions.
 * `classes`: of how many of its tokens the class is known.
 */
export type Decided = { tokens: number; believed: boolean; classes?: UsageClasses | undefined }

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
  const [other, held] = [card.steps.get(said), card.steps.get(bound.tier ?? '')]
  return isDearer(other, held, bound.held) ? bound.tier : said
}

function isDearer(
  steps: readonly RateStep[] | undefined = [],
  asked: readonly RateStep[] | undefined = [],
  held?: Bound['held'],
): boolean {
  return steps.some((step, at) => {
    const other = asked[at]
    return (
      other === undefined ||
      dearestInputOf(step, held) > dearestInputOf(other, held) ||
      dearestOutputOf(step, held) > dearestOutputOf(other, held) ||
      (step.rates.web_search ?? 0n) > (other.rates.web_search ?? 0n)
    )
  })
}

/** Keeps the classes that are known of each side, as far as its bound goes. */
export function addClasses(
  usage: Usage,
  { bound, prices }: Billed,
  { input, output, searches }: { input: Decided; output: Decided; searches: number },
): void {
  const step = stepFor(prices, usage)
  const kept: { [Class in UsageClass]?: number } = {}
  const keep = (
    names: readonly UsageClass[],
    { tokens, classes }: Decided,
    most: number,
    rateOf: (meter: UsageClass) => bigint,
    rest: bigint,
  ): void => {
    if (!classes) return
    let inClasses = 0
    for (const name of names) inClasses += classes[name] ?? 0
    const all = names.map((name) => ({ name, units: classes[name] ?? 0, rate: rateOf(name) }))
    const plain = { name: undefined, units: tokens - inClasses, rate: rest }
    // What is beyond the bound is taken from the cheapest units, so more never costs less.
    let left = Math.min(tokens, most)
    for (const { name, units } of [plain, ...all].sort((a, b) => compare(b.rate, a.rate))) {
      const taken = Math.min(left, units)
      left -= taken
      if (name !== undefined && taken > 0) kept[name] = taken
    }
  }
  const { input: plain = 0n, output: said = 0n } = step.rates
  keep(inputClasses, input, usage.inputTokens, (meter) => inputRateOf(step, bound, meter), plain)
  if (output.tokens > 0) {
    const rateOf = (meter: UsageClass) => outputRateOf(step, bound, meter) ?? said
    keep(outputClasses, output, usage.outputTokens, rateOf, said)
  }
  const found = Math.min(searches, bound.webSearches ?? 0)
  if (found > 0) kept.web_search = found
  for (const _ in kept) {
    usage.classes = kept
    return
  }
}

const compare = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0)
