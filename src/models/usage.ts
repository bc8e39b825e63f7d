/** Decides how many tokens a run is charged for. */
import type { Json } from '../kernel/canonical.ts'
import type { Bound } from './bound.ts'
import type { Usage } from './meter.ts'

/** What passed through our hands during a run. */
export type Delivered = {
  /** UTF-8 bytes of the text that was sent upstream. */
  inputBytes: number
  /** UTF-8 bytes of everything the answer said: text, reasoning, refusals, tool calls. */
  outputBytes: number
  /** How many pieces it came in; a whole answer is one a choice. */
  deltas: number
}

export type UsageClaim = {
  bound: Bound
  /** The `usage` member of the answer, as it came, if it came. */
  reported: Json | undefined
  delivered: Delivered
  /** Whether a built-in model reported: then the count is our own. */
  embedded: boolean
}

/** `source` is where the numbers are from; `clamped` says that one was lowered to its bound. */
export type DecidedUsage = { usage: Usage; source: UsageSource; clamped: boolean }

export type UsageSource = 'reported' | 'counted' | 'embedded'

/** UTF-8 bytes of a token where we have to count ourselves: rather too many bytes than too few. */
const bytesPerToken = 6

/**
 * How many tokens a run is charged for. An upstream is believed only where its number can be
 * true: a count, at most the bound of the hold, and none without output. Never above the bound.
 */
export function decideUsage(claim: UsageClaim): DecidedUsage {
  const { bound, embedded } = claim
  const input = inputOf(claim)
  const output = outputOf(claim)
  const believed = input.believed && output.believed
  return {
    usage: {
      inputTokens: Math.min(input.tokens, bound.inputTokens),
      outputTokens: Math.min(output.tokens, bound.outputTokens),
    },
    source: believed ? (embedded ? 'embedded' : 'reported') : 'counted',
    clamped: input.tokens > bound.inputTokens || output.tokens > bound.outputTokens,
  }
}

/** `believed`: the number is the reported one. */
type Decided = { tokens: number; believed: boolean }

function inputOf({ reported, delivered }: UsageClaim): Decided {
  const tokens = tokensIn(reported, 'prompt_tokens')
  if (tokens !== undefined) return { tokens, believed: true }
  return { tokens: Math.max(1, tokensOf(delivered.inputBytes)), believed: false }
}

function outputOf({ bound, reported, delivered }: UsageClaim): Decided {
  // An embedding says nothing, so nothing said about its output matters.
  if (bound.outputTokens === 0) return { tokens: 0, believed: true }
  const tokens = tokensIn(reported, 'completion_tokens')
  const isMute = delivered.outputBytes === 0 && delivered.deltas === 0
  if (isMute) return { tokens: 0, believed: tokens === 0 }
  if (tokens !== undefined && tokens > 0) return { tokens, believed: true }
  return {
    tokens: Math.max(delivered.deltas, tokensOf(delivered.outputBytes)),
    believed: false,
  }
}

/** A reported count, if it is one: no sign, no fraction, exact as a JSON number. */
function tokensIn(reported: Json | undefined, field: string): number | undefined {
  if (typeof reported !== 'object' || reported === null || Array.isArray(reported)) return undefined
  const value = reported[field]
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) return undefined
  // -0 passes for a count; it must not stay one.
  return value + 0
}

function tokensOf(bytes: number): number {
  return Math.ceil(bytes / bytesPerToken)
}
