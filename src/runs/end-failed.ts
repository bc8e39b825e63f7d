/** Ends a run that broke off: charges what is due, and says why. */
import type { Deps } from '../app/deps-port.ts'
import type { Millis } from '../kernel/clock.ts'
import type { Refusal } from '../kernel/refusal.ts'
import type { RouteStep } from '../models/model.ts'
import { UpstreamFailure } from '../models/upstream/upstream.ts'
import { receiptIdOf } from '../proof/receipts/receipt.ts'
import { type CollectedAnswer, endingOf, type How, type Keep } from './ending.ts'
import { type Charged, refusalOf } from './failure.ts'
import { finish } from './finish.ts'
import { isOurs, type LiveRun, namesOf } from './live-run.ts'
import { routeName } from './route.ts'
import { outcomeOf } from './run.ts'
import type { Ending, Finished } from './settlement.ts'

type Broken = {
  step: RouteStep | undefined
  /** What was delivered of the answer, and what was reported. */
  answer: CollectedAnswer
  firstByteAt: Millis | null
  keep?: Pick<Keep<never>, 'failed'> | undefined
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
  { step, answer, firstByteAt, keep, isWhole }: Broken,
): Promise<Refusal> {
  live.span?.failed(error)
  live.stopped()
  const stopped = live.endReason
  const { outputBytes, sealedBytes = 0, droppedBytes = 0 } = answer
  const hasOutput = outputBytes + sealedBytes + droppedBytes > 0
  const isLeft = stopped !== undefined && !isOurs.has(stopped)
  const how = isWhole ? 'whole' : isLeft ? 'left' : 'broken'
  const facts = { firstByteAt, output: outputBytes + sealedBytes > 0 ? answer.choices : null }
  /** An error of ours in counting must not strand the hold: then the run costs nothing. */
  const counted = (): ReturnType<typeof endingOf> | undefined => {
    try {
      return endingOf(deps, live, answer, step, facts, how)
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
  // What the model server reported it bills the operator, also where no customer pays.
  const isBilled = isFree && answer.usage !== undefined && step?.cost !== undefined
  const { wholesale } = (isBilled ? counted() : ended) ?? {}
  const receiptId = receiptIdOf(live.id)
  refusal.detail.headers = { ...refusal.detail.headers, 'x-receipt-id': receiptId }
  refusal.detail.metadata = { ...refusal.detail.metadata, run_id: live.id, receipt_id: receiptId }
  const ending: Ending = {
    ...facts,
    outcome: outcomeOf(stopped, hasOutput),
    route: routeName(step),
    usage: ended?.usage,
    usageSource: ended?.usageSource ?? 'counted',
    clamped: ended?.clamped ?? false,
    contradicts: ended?.contradicts,
    wholesale,
    error: { type: refusal.type, message: refusal.message },
  }
  const failed = keep?.failed
  const reply = failed && (({ run }: Finished) => failed(refusal, run))
  await finish(deps, live, ending, { reply })
  return refusal
}

type Break = { how: How; hasOutput: boolean }

function chargedFor({ isSent }: LiveRun, error: unknown, { how, hasOutput }: Break): Charged {
  if (how === 'whole') return 'drained'
  if (hasOutput) return 'output'
  // A model server that failed just then delivered nothing.
  const isStopped = error instanceof UpstreamFailure && error.reason === 'aborted'
  return how === 'left' && isStopped && isSent ? 'input' : 'nothing'
}
