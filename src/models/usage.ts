/**
 * Decides what a run is charged for: its units, their classes and their tier, and what the same
 * units cost the operator.
 */
import type { Json } from '../kernel/canonical.ts'
import { min, type Nusd } from '../kernel/money.ts'
import type { Bound } from './bound.ts'
import { type CountingRule, countOutput, defaultBytesPerToken, tokensOfBytes } from './count.ts'
import {
  costOf,
  inputClasses,
  outputClasses,
  type Usage,
  type UsageClass,
  type UsageClasses,
} from './meter.ts'
import type { Model } from './model.ts'
import {
  dearestInputOf,
  dearestOutputOf,
  inputRateOf,
  linesOf,
  outputRateOf,
  type Prices,
  type RateStep,
  stepFor,
} from './rates.ts'
import { type Reading, readUsage, type UsageReport, type UsageShape } from './reported.ts'
import { ordinaryTiers } from './tiers.ts'

/** The texts that passed through our hands during a run. */
export type Delivery = {
  /** UTF-8 bytes of the text that was sent upstream. */
  inputBytes: number
  /** UTF-8 bytes of all that was relayed: text, reasoning, refusals, calls, unknown members. */
  outputBytes: number
  /** The choices themselves, for models whose text is counted exactly. */
  output: Json
  /** Bytes of what is sealed, and of what came after the client had left. */
  sealedBytes?: number | undefined
  droppedBytes?: number | undefined
  /** Tokens that were written and did not come, as other runs of the model say. */
  hiddenTokens?: number | undefined
}

/** The beginning of a request as an earlier report has it, for a turn that has none. */
export type KnownPrefix = {
  /** The tokens of a part that was sent before, its bytes and what its media count. */
  whole?: { tokens: number; bytes: number; media: number } | undefined
  /** How many tokens a cache is to have. */
  cached: number
  /** The part of the request that is the same, from 0 to 1. */
  share: number
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
  /** The searches that came, which a report may leave out. */
  searches?: number | undefined
  /** Whether more output followed the report: it then holds for the input alone. */
  isOutdated?: boolean
  delivered: Delivery
  counting: CountingRule
  known?: KnownPrefix | undefined
  /** Whether a built-in model reported: then the count is our own. */
  embedded: boolean
}

/** `source` is where the numbers are from; `clamped` says that one was lowered to its bound. */
export type DecidedUsage = {
  usage: Usage
  source: 'reported' | 'counted' | 'embedded'
  clamped: boolean
  /** The sides of the report that contradict themselves, if any. */
  contradicts?: Side[]
}

export type Side = 'input' | 'output'

/**
 * One side of a usage. `believed`: the number is the reported one, free of contradictions.
 * `classes`: of how many of its tokens the class is known.
 */
type SideUsage = { tokens: number; believed: boolean; classes?: UsageClasses | undefined }

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
  if (bound.held) usage.held = bound.held
  const searches = Math.max(said.classes?.web_search ?? 0, claim.searches ?? 0)
  if (input.classes || output.classes || searches > 0) {
    addClasses(usage, claim, { input, output, searches })
  }
  const source = believed ? (embedded ? 'embedded' : 'reported') : 'counted'
  const decided: DecidedUsage = { usage, source, clamped }
  if (said.contradicts.input || said.contradicts.output) {
    decided.contradicts = (['input', 'output'] as const).filter((side) => said.contradicts[side])
  }
  return decided
}

/** The most output of a run that read so much: where a context is shared, what is left of it. */
const mostOutput = ({ outputTokens, contextTokens, n }: Bound, inputTokens: number): number =>
  contextTokens === undefined
    ? outputTokens
    : Math.min(outputTokens, n * (contextTokens - inputTokens))

function inputOf(claim: UsageClaim, said: UsageReport): SideUsage {
  const { classes, contradicts, apart, inputTokens: tokens, outputTokens } = said
  const { isOutdated = false } = claim
  // Zeros at the start of a stream, or on both sides, are what servers send that count nothing.
  const isBlank = tokens === 0 && (isOutdated || !outputTokens) && claim.bound.outputTokens > 0
  if (tokens === undefined || isBlank) return countedInput(claim)
  if (!contradicts.input) return { tokens, believed: true, classes }
  return readingOf({ total: tokens, classes }, apart?.input, countedInput(claim).tokens)
}

function countedInput({ bound, counting, delivered, known }: UsageClaim): SideUsage {
  const { countedMedia = 0, countedText: exact } = bound
  const perToken = counting.readBytesPerToken ?? counting.bytesPerToken
  const { whole } = known ?? {}
  const sent = whole && exact === undefined ? whole : { tokens: 0, bytes: 0, media: 0 }
  const text = exact ?? tokensOfBytes(Math.max(0, delivered.inputBytes - sent.bytes), perToken)
  const media = Math.max(0, countedMedia - sent.media)
  const tokens = Math.max(1, sent.tokens + text + media)
  if (!known) return { tokens, believed: false }
  const most = sent.tokens > 0 ? sent.tokens : Math.floor(tokens * known.share)
  const cache_read = Math.min(known.cached, most)
  return { tokens, believed: false, classes: cache_read > 0 ? { cache_read } : undefined }
}

function outputOf(claim: UsageClaim, said: UsageReport): SideUsage {
  const { bound, counting, delivered, isOutdated = false } = claim
  // An embedding says nothing, so nothing said about its output matters.
  if (bound.outputTokens === 0) return { tokens: 0, believed: true }
  const { outputTokens: tokens, contradicts, classes, apart } = said
  const count = () => countedOutput(counting, delivered)
  const { outputBytes, sealedBytes = 0, droppedBytes = 0 } = delivered
  // Hidden reasoning is output of which nothing is seen.
  const isPossible =
    tokens !== undefined && (tokens > 0 || outputBytes + sealedBytes + droppedBytes === 0)
  if (!isPossible || isOutdated) {
    const counted = count()
    return { tokens: isOutdated ? Math.max(counted, tokens ?? 0) : counted, believed: false }
  }
  if (!contradicts.output) return { tokens, believed: true, classes }
  return readingOf({ total: tokens, classes }, apart?.output, count())
}

/** The tokens of all that came, and of what is known to have been written beside it. */
function countedOutput(
  counting: CountingRule,
  { outputBytes, output, sealedBytes = 0, droppedBytes = 0, hiddenTokens = 0 }: Delivery,
): number {
  const passed = { bytes: outputBytes, choices: output }
  const heard = outputBytes === 0 ? 0 : countOutput(counting, passed)
  const dropped = tokensOfBytes(droppedBytes, counting.bytesPerToken)
  return heard + dropped + sealedTokens(sealedBytes) + hiddenTokens
}

/** A seal has no words: its bytes are a token for every four, whatever the text has. */
export const sealedTokens = (bytes: number): number => tokensOfBytes(bytes, defaultBytesPerToken)

/** How many tokens of what was counted a reading has at least: bytes count them only roughly. */
const leastOfCounted = 0.5

/**
 * The cheaper reading of a side that contradicts itself: its total without details, unless that is
 * too little for what passed and the details are enough.
 */
function readingOf(
  total: { total: number; classes: SideUsage['classes'] },
  apart: Reading | undefined,
  counted: number,
): SideUsage {
  const isCovered = total.total >= counted * leastOfCounted
  if (isCovered || !apart || apart.total <= total.total) {
    return { tokens: total.total, believed: false, classes: total.classes }
  }
  return { tokens: apart.total, believed: false, classes: Object.fromEntries(apart.classes) }
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
  const named = card.steps.get(said)
  if (!named) return bound.tier
  return isDearer(named, card.steps.get(bound.tier ?? ''), bound.held) ? bound.tier : said
}

function isDearer(
  steps: readonly RateStep[],
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
function addClasses(
  usage: Usage,
  { bound, prices }: UsageClaim,
  { input, output, searches }: { input: SideUsage; output: SideUsage; searches: number },
): void {
  const step = stepFor(prices, usage)
  const kept: { [Class in UsageClass]?: number } = {}
  const keep = (
    names: readonly UsageClass[],
    { tokens, classes }: SideUsage,
    most: number,
    rateOf: (meter: UsageClass) => bigint,
    rest: bigint,
  ): void => {
    if (!classes) return
    let inClasses = 0
    for (const name of names) inClasses += classes[name] ?? 0
    const all = names.map((name) => ({ name, units: classes[name] ?? 0, rate: rateOf(name) }))
    const plain = { name: undefined, units: tokens - inClasses, rate: rest }
    // Units beyond the bound are taken from the cheapest ones, so more never costs less.
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
  if (Object.keys(kept).length > 0) usage.classes = kept
}

const compare = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0)

/** Most that is noted of one run, in nano-USD, so that sums of very many stay exact. */
const costMost: Nusd = 9_000_000_000_000n

/**
 * The charge of an upstream for a run. Classes without a rate fall back as in prices. Usage
 * beyond the hold counts too, up to the limits of the model, although no customer pays for it.
 */
export function wholesaleOf(
  cost: Prices,
  model: Model,
  claim: UsageClaim,
  { usage, clamped }: DecidedUsage,
): Nusd {
  const used = clamped ? decideUsage({ ...claim, bound: limitsOf(model, claim) }).usage : usage
  return min(costOf(linesOf(cost, model.kind, inTier(cost, claim, used)), 0), costMost)
}

const limitsOf = ({ contextTokens, maxOutputTokens }: Model, { bound }: UsageClaim): Bound => ({
  ...bound,
  inputTokens: Math.max(bound.inputTokens, contextTokens),
  outputTokens: Math.max(bound.outputTokens, maxOutputTokens * bound.n),
  // The room of the context is a limit of holds; a server may count otherwise.
  contextTokens: undefined,
})

/**
 * The upstream bills the tier it names, also one that the model is not sold at, and classes by
 * their own rates.
 */
function inTier({ card }: Prices, { tier }: UsageClaim, { held: _, ...usage }: Usage): Usage {
  if (typeof tier !== 'string' || !card?.steps.has(tier)) return usage
  return { ...usage, tier }
}
