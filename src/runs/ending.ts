/** Decides what a run is charged for what came of its answer. */
import type { Deps } from '../app/deps-port.ts'
import type { Json } from '../kernel/canonical.ts'
import type { Refusal } from '../kernel/refusal.ts'
import type { Usage } from '../models/meter.ts'
import type { RouteStep } from '../models/model.ts'
import { decideUsage, type UsageClaim, wholesaleOf } from '../models/usage.ts'
import type { KeptItemRow, RunRow } from '../storage/db/schema.ts'
import type { Answer } from './answer.ts'
import type { LiveRun } from './live-run.ts'
import { routeName } from './route.ts'
import type { Ending, Finished, Stored } from './settlement.ts'

/** Seals the answer. The command that ends the run stores it together with the charge. */
export type Keep<Done> = {
  /** For a retry with the same Idempotency-Key. */
  done?: ((done: Done) => Uint8Array) | undefined
  /** The same of a run that broke off and was charged. */
  failed?: ((refusal: Refusal, run: RunRow) => Uint8Array) | undefined
  /** The items that a next turn can name. */
  items?: ((done: Done) => readonly KeptItemRow[]) | undefined
}

/** The same for a command that has only the end of the run. */
export function storedOf<More extends object>(
  keep: Keep<Finished & More> | undefined,
  more: More,
): Stored | undefined {
  if (!keep) return undefined
  const { done: reply, items } = keep
  return {
    reply: reply && ((done) => reply({ ...done, ...more })),
    items: items && ((done) => items({ ...done, ...more })),
  }
}

/**
 * What an answer came to: its counts, and what the upstream reported. `hasEnded`: the upstream said
 * how it ended, so that its report is the last one.
 */
export type CollectedAnswer = Omit<Answer, 'choices'> & { choices: Json; hasEnded?: boolean }

type Facts = Pick<Ending, 'firstByteAt' | 'output'>

/** `broken`: it is not the whole answer. `left`: and the client chose the end. */
export type How = 'whole' | 'broken' | 'left'

/** The ending of a run that is charged for what came of its answer. */
export function endingOf(
  { reports }: Pick<Deps, 'reports'>,
  live: LiveRun,
  answer: CollectedAnswer,
  step: RouteStep | undefined,
  facts: Facts,
  how: How,
): Ending & { usage: Usage; hiddenTokens: number } {
  const isWhole = how === 'whole'
  const { sealedBytes, droppedBytes, hasEnded = false } = answer
  const hiddenTokens = how === 'left' ? reports.hiddenTokensOf(live, answer) : 0
  // A report before the end leaves out what was written unseen.
  const isEarly = answer.isOutdated || (hiddenTokens > 0 && !hasEnded)
  const claim: UsageClaim = {
    bound: live.bound,
    prices: live.model.prices,
    reported: answer.usage,
    shape: live.protocol,
    isOutdated: !isWhole && isEarly,
    tier: answer.tier,
    searches: answer.searches,
    delivered: {
      inputBytes: live.bound.inputBytes,
      outputBytes: answer.outputBytes,
      output: answer.choices,
      sealedBytes,
      droppedBytes,
      hiddenTokens,
    },
    counting: isWhole ? live.model : reports.countingOf(live, how === 'left' ? 'client' : 'server'),
    known: isWhole ? undefined : reports.prefixOf(live, step),
    embedded: live.model.verifiable === 're-executable',
  }
  const decided = decideUsage(claim)
  const { usage, source, clamped, contradicts } = decided
  const isLesson = isWhole && source === 'reported' && !clamped
  if (isLesson) reports.note(live, step, usage, answer)
  return {
    outcome: 'complete',
    route: routeName(step),
    usage,
    usageSource: source,
    clamped,
    contradicts,
    hiddenTokens: source === 'counted' ? hiddenTokens : 0,
    error: null,
    wholesale: step?.cost && wholesaleOf(step.cost, live.model, claim, decided),
    ...facts,
  }
}

/** An answer of which nothing came. */
export const nothingCame: CollectedAnswer = {
  choices: [],
  outputBytes: 0,
  usage: undefined,
  isOutdated: false,
  tier: undefined,
}
