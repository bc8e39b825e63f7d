/** Decides what a run is charged for. */
import type { Json } from '../kernel/canonical.ts'
import type { Bound } from './bound.ts'
import { type Counting, countOutput, tokensOfBytes } from './count.ts'
import type { Usage } from './meter.ts'
import type { Prices } from './rate-card.ts'
import { readUsage, type UsageShape } from './reported.ts'
import type { Reported } from './reported-counts.ts'
import { addClasses, type Decided, tierOf } from './usage-classes.ts'

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
  /** The searches that came, which a report may leave out. */
  searches?: number | undefined
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
  const searches = Math.max(said.classes?.web_search ?? 0, claim.searches ?? 0)
  if (said.classes || searches > 0) addClasses(usage, said, claim, { input, output, searches })
  if (said.contradicts.input || said.contradicts.output) usage.dearest = said.contradicts
  return { usage, source: believed ? (embedded ? 'embedded' : 'reported') : 'counted', clamped }
}

/** The most output of a run that read so much: where a context is shared, what is left of it. */
const mostOutput = ({ outputTokens, contextTokens, n }: Bound, inputTokens: number): number =>
  contextTokens === undefined
    ? outputTokens
    : Math.min(outputTokens, n * (contextTokens - inputTokens))

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
