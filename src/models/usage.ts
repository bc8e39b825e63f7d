/** Decides what a run is charged for. */
import type { Json } from '../kernel/canonical.ts'
import type { Bound } from './bound.ts'
import { type Counting, countOutput, tokensOfBytes } from './count.ts'
import { inputClasses, outputClasses, type Usage, type UsageClass } from './meter.ts'
import { type Prices, type RateStep, stepFor } from './rates.ts'
import { type Reported, readUsage, type UsageShape } from './reported.ts'
import { ordinaryTiers } from './tiers.ts'

/** What passed through our hands during a run. */
export type Delivered = {
  /** UTF-8 bytes of the text that was sent upstream. */
  inputBytes: number
  /** UTF-8 bytes of all that was relayed: text, reasoning, refusals, calls, unknown members. */
  outputBytes: number
  /** The choices themselves, for models whose text is counted exactly. */
  output: Json
}

export type UsageClaim = {
  bound: Bound
  prices: Prices
  /** The `usage` member of the answer, as it came, if it came. */
  reported: Json | undefined
  /** The protocol it is written in; `chat` when absent. */
  shape?: UsageShape
  /** The tier of service that the answer names, if it does. */
  tier?: Json | undefined
  /** Whether more output followed the report: it then holds for the input alone. */
  isOutdated?: boolean
  delivered: Delivered
  counting: Counting
  /** Whether the client chose the end of the answer. */
  isClientsEnd?: boolean
  /** Whether a built-in model reported: then the count is our own. */
  embedded: boolean
}

/** `source` is where the numbers are from; `clamped` says that one was lowered to its bound. */
export type DecidedUsage = { usage: Usage; source: UsageSource; clamped: boolean }

export type UsageSource = 'reported' | 'counted' | 'embedded'

/**
 * How many units a run is charged for. A model server is believed only where its number can be
 * true: a count, at most the bound of the hold, details within their total. Never above the bound.
 */
export function decideUsage(claim: UsageClaim): DecidedUsage {
  const { bound, embedded } = claim
  const said = readUsage(claim.shape ?? 'chat', claim.reported)
  const input = inputOf(claim, said)
  const output = outputOf(claim, said)
  const inputTokens = Math.min(input.tokens, bound.inputTokens)
  const outputTokens = Math.min(output.tokens, mostOutput(bound, inputTokens))
  const clamped = input.tokens > inputTokens || output.tokens > outputTokens
  const believed = input.believed && output.believed
  const usage: Usage = { inputTokens, outputTokens }
  const tier = tierOf(claim)
  if (tier !== undefined) usage.tier = tier
  if (said.classes) addClasses(usage, said, claim, { input, output })
  if (said.contradicts.input || said.contradicts.output) usage.dearest = said.contradicts
  return { usage, source: believed ? (embedded ? 'embedded' : 'reported') : 'counted', clamped }
}

/** The most output of a run that read so much: where a context is shared, what is left of it. */
const mostOutput = ({ outputTokens, contextTokens, n }: Bound, inputTokens: number): number =>
  contextTokens === undefined
    ? outputTokens
    : Math.min(outputTokens, n * (contextTokens - inputTokens))

/** `believed`: the number is the reported one. */
type Decided = { tokens: number; believed: boolean }

function inputOf(claim: UsageClaim, said: Reported): Decided {
  const { bound, counting, delivered, isClientsEnd = false } = claim
  const tokens = said.inputTokens
  if (tokens !== undefined) return { tokens, believed: !said.contradicts.input }
  const { countedMedia = 0, countedText: exact } = bound
  const { bytesPerToken } = counting
  const text = exact ?? tokensOfBytes(delivered.inputBytes, bytesPerToken, isClientsEnd)
  return { tokens: Math.max(1, text + countedMedia), believed: false }
}

function outputOf(claim: UsageClaim, said: Reported): Decided {
  const { bound, counting, delivered, isClientsEnd = false, isOutdated = false } = claim
  // An embedding says nothing, so nothing said about its output matters.
  if (bound.outputTokens === 0) return { tokens: 0, believed: true }
  const tokens = said.outputTokens
  const { outputBytes, output } = delivered
  // Hidden reasoning is output of which nothing is seen.
  const isPossible = tokens !== undefined && (tokens > 0 || outputBytes === 0)
  if (isPossible && !isOutdated) return { tokens, believed: !said.contradicts.output }
  const isMute = outputBytes === 0
  const passed = { bytes: outputBytes, choices: output }
  const counted = isMute ? 0 : countOutput(counting, passed, isClientsEnd)
  return { tokens: isOutdated ? Math.max(counted, tokens ?? 0) : counted, believed: false }
}

/**
 * The tier to bill: the one the answer names, unless that is dearer than what was held for. A name
 * without rates is the ordinary tier where it says so, and else the one that was asked for.
 */
function tierOf({ bound, prices, tier: said }: UsageClaim): string | undefined {
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
function addClasses(
  usage: Usage,
  said: Reported,
  { bound, prices }: UsageClaim,
  { input, output }: { input: Decided; output: Decided },
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
  const searches = Math.min(said.classes?.web_search ?? 0, bound.webSearches ?? 0)
  if (searches > 0) kept.web_search = searches
  if (Object.keys(kept).length > 0) usage.classes = kept
}

const compare = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0)
