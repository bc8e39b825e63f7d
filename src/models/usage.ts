/** Decides what a run is charged for. */
import type { Json } from '../kernel/canonical.ts'
import type { Bound } from './bound.ts'
import { type Counting, countOutput, defaultBytesPerToken, tokensOfBytes } from './count.ts'
import type { Usage } from './meter.ts'
import type { Prices } from './rates.ts'
import { type Reading, type Reported, readUsage, type UsageShape } from './reported.ts'
import { addClasses, type Decided, tierOf } from './usage-classes.ts'

/** What passed through our hands during a run. */
export type Delivered = {
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
  delivered: Delivered
  counting: Counting
  known?: KnownPrefix | undefined
  /** Whether a built-in model reported: then the count is our own. */
  embedded: boolean
}

/** `source` is where the numbers are from; `clamped` says that one was lowered to its bound. */
export type DecidedUsage = {
  usage: Usage
  source: UsageSource
  clamped: boolean
  /** The sides of the report that contradict themselves, if any. */
  contradicts?: Side[]
}

export type UsageSource = 'reported' | 'counted' | 'embedded'
export type Side = 'input' | 'output'

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

function inputOf(claim: UsageClaim, said: Reported): Decided {
  const { classes, contradicts, apart, inputTokens: tokens, outputTokens } = said
  const { isOutdated = false } = claim
  // Zeros at the start of a stream, or on both sides, are what servers send that count nothing.
  const isBlank = tokens === 0 && (isOutdated || !outputTokens) && claim.bound.outputTokens > 0
  if (tokens === undefined || isBlank) return countedInput(claim)
  if (!contradicts.input) return { tokens, believed: true, classes }
  return readingOf({ total: tokens, classes }, apart?.input, countedInput(claim).tokens)
}

function countedInput({ bound, counting, delivered, known }: UsageClaim): Decided {
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

function outputOf(claim: UsageClaim, said: Reported): Decided {
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
  counting: Counting,
  { outputBytes, output, sealedBytes = 0, droppedBytes = 0, hiddenTokens = 0 }: Delivered,
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
  total: { total: number; classes: Decided['classes'] },
  apart: Reading | undefined,
  counted: number,
): Decided {
  const isCovered = total.total >= counted * leastOfCounted
  if (isCovered || !apart || apart.total <= total.total) {
    return { tokens: total.total, believed: false, classes: total.classes }
  }
  return { tokens: apart.total, believed: false, classes: Object.fromEntries(apart.classes) }
}
