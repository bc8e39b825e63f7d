/** Decides what a run is charged when its answer is complete and when it breaks off. */
import type { Deps } from '../app/deps-port.ts'
import type { Json } from '../kernel/canonical.ts'
import type { Millis } from '../kernel/clock.ts'
import type { Refusal } from '../kernel/refusal.ts'
import type { Usage } from '../models/meter.ts'
import type { RouteStep } from '../models/model.ts'
import { UpstreamFailure } from '../models/upstream/upstream.ts'
import { decideUsage, type UsageClaim } from '../models/usage.ts'
import { wholesaleOf } from '../models/wholesale.ts'
import { receiptIdOf } from '../proof/receipts/receipt.ts'
import type { RunRow } from '../storage/db/schema.ts'
import type { Answer } from './answer.ts'
import { type Charged, refusalOf } from './failure.ts'
import { type Ending, finish } from './finish.ts'
import { type LiveRun, namesOf, type StopReason } from './live-run.ts'
import { routeName } from './route.ts'
import { outcomeOf } from './run.ts'

/**
 * Seals the answer for a retry with the same Idempotency-Key. The command that ends the run stores
 * it together with the charge.
 */
export type Keep<Done> = {
  done(done: Done): Uint8Array
  /** The answer of a run that broke off and was charged. */
  failed(refusal: Refusal, run: RunRow): Uint8Array
}

/** What an answer came to: its counts, and what the upstream reported. */
export type Came = Omit<Answer, 'choices'> & { choices: Json }

type Facts = Pick<Ending, 'firstByteAt' | 'output'>

/** The ending of a run whose answer is complete, charged by its usage. */
export const chargedEnding = (
  live: LiveRun,
  answer: Came,
  step: RouteStep | undefined,
  facts: Facts,
): Ending & { usage: Usage } => endingOf(live, answer, step, facts, 'whole')

/** `broken`: it is not the whole answer. `left`: and the client chose the end. */
type How = 'whole' | 'broken' | 'left'

function endingOf(
  live: LiveRun,
  answer: Came,
  step: RouteStep | undefined,
  facts: Facts,
  how: How,
): Ending & { usage: Usage } {
  const claim: UsageClaim = {
    bound: live.bound,
    prices: live.model.prices,
    reported: answer.usage,
    shape: live.protocol,
    isOutdated: how !== 'whole' && answer.isOutdated,
    tier: answer.tier,
    delivered: {
      inputBytes: live.bound.inputBytes,
      outputBytes: answer.outputBytes,
      output: answer.choices,
    },
    counting: live.model,
    isClientsEnd: how === 'left',
    embedded: live.model.verifiable === 're-executable',
  }
  const decided = decideUsage(claim)
  const { usage, source, clamped } = decided
  const route = routeName(step)
  const wholesale = step?.cost && wholesaleOf(step.cost, live.model, claim, decided)
  const ending = { route, usage, usageSource: source, clamped, error: null, wholesale, ...facts }
  return { ...ending, outcome: 'complete' }
}

type Broken = {
  step: RouteStep | undefined
  /** What was delivered of the answer, and what was reported. */
  answer: Came
  firstByteAt: Millis | null
  keep?: Pick<Keep<never>, 'failed'> | undefined
}

/** An answer of which nothing came. */
export const nothingCame: Came = {
  choices: [],
  outputBytes: 0,
  usage: undefined,
  isOutdated: false,
  tier: undefined,
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
  { step, answer, firstByteAt, keep }: Broken,
): Promise<Refusal> {
  live.span?.failed(error)
  const stopped = live.stopped()
  const hasOutput = answer.outputBytes > 0
  const how = stopped === undefined || isOurs.has(stopped) ? 'broken' : 'left'
  const charged = chargedFor(live, error, { how, hasOutput })
  const refusal = refusalOf(error, stopped, charged, live.model.contextTokens)
  if (refusal.type === 'internal_error') deps.log.error('run.failed', error, namesOf(live))
  const facts = { firstByteAt, output: hasOutput ? answer.choices : null }
  const isFree = charged === 'nothing'
  const ended = isFree ? undefined : endingOf(live, answer, step, facts, how)
  // What the model server reported it bills the operator, also where no customer pays.
  const isBilled = isFree && answer.usage !== undefined && step?.cost !== undefined
  const { wholesale } = (isBilled ? endingOf(live, answer, step, facts, how) : ended) ?? {}
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
    wholesale,
    error: { type: refusal.type, message: refusal.message },
  }
  await finish(deps, live, ending, keep && (({ run }) => keep.failed(refusal, run)))
  return refusal
}

/** The reasons of a stop that are ours, not the client's. */
const isOurs = new Set<StopReason>(['shutdown', 'overdue'])

type Break = { how: How; hasOutput: boolean }

function chargedFor({ isSent }: LiveRun, error: unknown, { how, hasOutput }: Break): Charged {
  if (hasOutput) return 'output'
  // A model server that failed just then delivered nothing.
  const isStopped = error instanceof UpstreamFailure && error.reason === 'aborted'
  return how === 'left' && isStopped && isSent ? 'input' : 'nothing'
}
