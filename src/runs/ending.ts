/** Ends a run: says what it is charged, and which error its caller gets when it broke off. */
import type { Deps } from '../app/deps-port.ts'
import type { Json } from '../kernel/canonical.ts'
import type { Refusal } from '../kernel/refusal.ts'
import type { Usage } from '../models/meter.ts'
import { pricesAt } from '../models/step-prices.ts'
import { UpstreamFailure } from '../models/upstream/upstream.ts'
import { decideUsage, type UsageClaim, wholesaleOf } from '../models/usage.ts'
import { receiptIdOf } from '../proof/receipts/receipt.ts'
import type { KeptItemRow, RunRow } from '../storage/db/schema/schema.ts'
import type { Answer } from './answer.ts'
import { finish } from './finish.ts'
import { isOurs, type LiveRun, namesOf } from './live-run.ts'
import { routeName } from './route.ts'
import { type ChargeScope, isByClient, refusalOf } from './run-refusal.ts'
import { type Ending, type FinishedRun, outcomeOf, type StoredParts } from './settlement.ts'

/** Seals the answer. The command that ends the run stores it together with the charge. */
export type ReplyKeeper<Done> = {
  /** Seals the answer for a retry with the same Idempotency-Key. */
  done?: ((done: Done) => Uint8Array) | undefined
  /** Seals the refusal of a run that broke off and was charged. */
  failed?: ((refusal: Refusal, run: RunRow) => Uint8Array) | undefined
  /** The items that a next turn can name. */
  items?: ((done: Done) => readonly KeptItemRow[]) | undefined
}

/** Adds what the door knows to the end of the run, which is all that its command has. */
export function storedOf<More extends object>(
  keep: ReplyKeeper<FinishedRun & More> | undefined,
  more: More,
): StoredParts | undefined {
  if (!keep) return undefined
  const { done: reply, items } = keep
  return {
    reply: reply && ((done) => reply({ ...done, ...more })),
    items: items && ((done) => items({ ...done, ...more })),
  }
}

/**
 * The counts of an answer, and the report of its upstream. `hasEnded`: the upstream said
 * how it ended, so that its report is the last one.
 */
export type CollectedAnswer = Omit<Answer, 'choices'> & { choices: Json; hasEnded?: boolean }

/** How far an answer came. `broken`: not to its end. `left`: nor that, because its client left. */
export type AnswerEnd = 'whole' | 'broken' | 'left'

/** The ending of a run that is charged for what came of its answer. */
export function endingOf(
  { reports }: Pick<Deps, 'reports'>,
  live: LiveRun,
  answer: CollectedAnswer,
  output: Json | null,
  how: AnswerEnd,
): Ending & { usage: Usage; hiddenTokens: number } {
  const { step } = live
  const isWhole = how === 'whole'
  const { sealedBytes, droppedBytes, hasEnded = false } = answer
  const hiddenTokens = how === 'left' ? reports.hiddenTokensOf(live, answer) : 0
  // A report before the end leaves out what was written unseen.
  const isEarly = answer.isOutdated || (hiddenTokens > 0 && !hasEnded)
  const claim: UsageClaim = {
    bound: live.bound,
    prices: pricesAt(live.model, step),
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
    known: isWhole ? undefined : reports.prefixOf(live),
    embedded: live.model.verifiable === 're-executable',
  }
  const decided = decideUsage(claim)
  const { usage, source, clamped, contradicts } = decided
  if (isWhole && source === 'reported' && !clamped) reports.note(live, usage, answer)
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
    firstByteAt: live.firstByteAt,
    output,
  }
}

type BrokenRun = {
  /** The part of the answer that was delivered, and its report. */
  answer: CollectedAnswer
  keep?: Pick<ReplyKeeper<never>, 'failed'> | undefined
  /** Whether the answer was read to its end for a client that was gone. */
  isWhole: boolean
}

/**
 * Ends a run that did not complete. Output that was delivered is charged, and the input with it.
 * Without any, a run costs its input if it was stopped from the side of its client while the model
 * server had its request; a failure of ours or of the model server costs nothing.
 */
export async function endFailed(
  deps: Deps,
  live: LiveRun,
  error: unknown,
  { answer, keep, isWhole }: BrokenRun,
): Promise<Refusal> {
  live.span?.failed(error)
  live.stopped()
  const stopped = live.endReason
  const { outputBytes, sealedBytes = 0, droppedBytes = 0 } = answer
  const hasOutput = outputBytes + sealedBytes + droppedBytes > 0
  const isLeft = stopped !== undefined && !isOurs.has(stopped)
  const how = isWhole ? 'whole' : isLeft ? 'left' : 'broken'
  const output = outputBytes + sealedBytes > 0 ? answer.choices : null
  /** An error of ours in counting must not strand the hold: then the run costs nothing. */
  const counted = (): ReturnType<typeof endingOf> | undefined => {
    try {
      return endingOf(deps, live, answer, output, how)
    } catch (fault) {
      deps.log.error('run.not_counted', fault, namesOf(live))
      return undefined
    }
  }
  const due = chargedFor(live, error, { how, hasOutput })
  const isFree = due === 'nothing'
  const ended = isFree ? undefined : counted()
  const charged = !ended ? 'nothing' : ended.hiddenTokens > 0 ? 'hidden' : due
  const refusal = refusalOf(error, stopped, charged, live.model.contextTokens)
  if (refusal.type === 'internal_error') deps.log.error('run.failed', error, namesOf(live))
  // The model server bills the operator for what it reported, also where no customer pays.
  const { step } = live
  const isBilled = isFree && answer.usage !== undefined && step?.cost !== undefined
  const { wholesale } = (isBilled ? counted() : ended) ?? {}
  const receiptId = receiptIdOf(live.id)
  refusal.detail.headers = { ...refusal.detail.headers, 'x-receipt-id': receiptId }
  refusal.detail.metadata = { ...refusal.detail.metadata, run_id: live.id, receipt_id: receiptId }
  const ending: Ending = {
    firstByteAt: live.firstByteAt,
    output,
    outcome: outcomeOf(stopped, hasOutput),
    route: routeName(step),
    usage: ended?.usage,
    usageSource: ended?.usageSource ?? 'counted',
    clamped: ended?.clamped ?? false,
    contradicts: ended?.contradicts,
    wholesale,
    error: { type: refusal.type, message: refusal.message },
    isByClient: isByClient(live, error, stopped),
  }
  const failed = keep?.failed
  await finish(deps, live, ending, { reply: failed && (({ run }) => failed(refusal, run)) })
  return refusal
}

function chargedFor(
  { isSent }: LiveRun,
  error: unknown,
  { how, hasOutput }: { how: AnswerEnd; hasOutput: boolean },
): ChargeScope {
  if (how === 'whole') return 'drained'
  if (hasOutput) return 'output'
  // A model server that failed just then delivered nothing.
  const isStopped = error instanceof UpstreamFailure && error.reason === 'aborted'
  return how === 'left' && isStopped && isSent ? 'input' : 'nothing'
}
