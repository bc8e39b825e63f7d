/** Ends a run: says what it is charged, and which error its caller gets when it broke off. */
import type { Deps } from '../app/deps-port.ts'
import type { Json } from '../kernel/canonical.ts'
import type { Millis } from '../kernel/clock.ts'
import { Refusal, type RefusalDetail } from '../kernel/refusal.ts'
import { retryHeaders } from '../kernel/retry-headers.ts'
import type { Usage } from '../models/meter.ts'
import type { RouteStep } from '../models/model.ts'
import { UpstreamFailure } from '../models/upstream/upstream.ts'
import { decideUsage, type UsageClaim, wholesaleOf } from '../models/usage.ts'
import { receiptIdOf } from '../proof/receipts/receipt.ts'
import type { KeptItemRow, RunRow } from '../storage/db/schema/schema.ts'
import type { Answer } from './answer.ts'
import { circuitOpenRefusal } from './circuit.ts'
import { finish } from './finish.ts'
import { isByClient, isOurs, type LiveRun, namesOf, type StopReason } from './live-run.ts'
import { routeName } from './route.ts'
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
  step: RouteStep | undefined,
  facts: Pick<Ending, 'firstByteAt' | 'output'>,
  how: AnswerEnd,
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
  if (isWhole && source === 'reported' && !clamped) reports.note(live, step, usage, answer)
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

/**
 * The charge of a run that broke off: nothing, its input alone, its output; its output and what
 * was written unseen; or all of an answer that was read to its end without its client.
 */
type ChargeScope = 'nothing' | 'input' | 'output' | 'hidden' | 'drained'

type BrokenRun = {
  step: RouteStep | undefined
  /** The part of the answer that was delivered, and its report. */
  answer: CollectedAnswer
  firstByteAt: Millis | null
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
  { step, answer, firstByteAt, keep, isWhole }: BrokenRun,
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
  // The model server bills the operator for what it reported, also where no customer pays.
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

/** The message never claims that nothing was charged where something was. */
export function refusalOf(
  error: unknown,
  stopped: StopReason | undefined,
  charge: ChargeScope,
  contextTokens = 0,
): Refusal {
  const isOverloaded = saysOverloaded(error)
  const charged = {
    ...(charge === 'nothing' ? {} : { message: brokeOff }),
    ...(isOverloaded ? { isOverloaded } : {}),
  }
  if (stopped === 'key_revoked' || stopped === 'account_suspended') return new Refusal(stopped)
  if (stopped === 'brake') return new Refusal('key_paused', { message: brakeStopped[charge] })
  if (stopped === 'session_ended') {
    return new Refusal('session_required', { message: 'Your session ended, and the run with it.' })
  }
  if (stopped === 'shutdown') {
    const message = 'The server is stopping. Try again.'
    return new Refusal('unavailable', { message, headers: retryHeaders(1000) })
  }
  if (stopped === 'overdue') return new Refusal('upstream_timeout', charged)
  if (stopped) {
    // SDKs retry a 409 by default, which would start the cancelled run again.
    const headers = { 'x-should-retry': 'false' }
    return new Refusal('conflict', { message: cancelled[charge], headers })
  }
  if (!(error instanceof UpstreamFailure)) {
    return error instanceof Refusal ? error : new Refusal('internal_error')
  }
  if (error.reason === 'timeout' || error.reason === 'too_long') {
    return new Refusal('upstream_timeout', charged)
  }
  if (error.reason === 'open') return circuitOpenRefusal(error.retryAfterMs ?? 0)
  if (error.reason === 'share') {
    return new Refusal('concurrency_limited', {
      message: 'Your account already uses its share of this model. Wait for a run to end.',
      headers: retryHeaders(2000),
    })
  }
  if (error.reason === 'busy') {
    return new Refusal('unavailable', {
      message:
        charge === 'nothing'
          ? 'The model server is busy. Nothing was charged; try again after Retry-After.'
          : brokeOff,
      // No earlier than the server says: it would only refuse again.
      headers: retryHeaders(Math.max(1000, error.retryAfterMs ?? 2000)),
      ...(isOverloaded ? { isOverloaded } : {}),
      ...upstreamMetadata(error),
    })
  }
  if (error.reason === 'denied' && charge === 'nothing') {
    return new Refusal('upstream_error', {
      message:
        "The model server does not accept this service's key or account. Only the operator can " +
        'mend that. Nothing was charged.',
      headers: { 'x-should-retry': 'false' },
    })
  }
  if (error.reason === 'context' && charge === 'nothing') {
    return new Refusal('context_length_exceeded', {
      // Agents look for the words "maximum context length" to shorten what they send.
      message:
        `The request exceeds the model's maximum context length of ${contextTokens} tokens. ` +
        'Send fewer or shorter messages, or lower max_tokens. Nothing was charged.',
      metadata: { context_tokens: contextTokens },
    })
  }
  if (error.reason === 'rejected') return rejection(error, charge)
  return new Refusal('upstream_error', charged)
}

/** Anthropic's status and name for a server that has too much to do, in an answer or in band. */
const saysOverloaded = (error: unknown): boolean =>
  error instanceof UpstreamFailure && (error.status === 529 || error.code === 'overloaded_error')

/** The model server's own words, where its operator lets them pass: the client has to mend it. */
function rejection(error: UpstreamFailure, charge: ChargeScope): Refusal {
  const { status, words } = error
  if (charge !== 'nothing') {
    return new Refusal('invalid_request', { message: brokeOff, ...upstreamMetadata(error) })
  }
  const isTold = words?.isRelayed === true && words.message !== ''
  return new Refusal('invalid_request', {
    message: isTold
      ? `The model server refused the request: ${words.message}`
      : `The model server refused the request (status ${status}). Check its fields.`,
    ...(isTold && words.param ? { param: words.param } : {}),
    ...upstreamMetadata(error),
  })
}

/** Tells programs what the server answered. */
function upstreamMetadata({ status, words }: UpstreamFailure): Pick<RefusalDetail, 'metadata'> {
  if (status === undefined) return {}
  const code = words?.isRelayed ? words.code : undefined
  return { metadata: { upstream: { status, ...(code === undefined ? {} : { code }) } } }
}

const cancelled: Record<ChargeScope, string> = {
  nothing: 'The run was cancelled. Nothing was charged.',
  input:
    'The run was cancelled while the model server was at work on it. Its input was charged, or ' +
    'what that reported: see the receipt.',
  output: 'The run was cancelled. What it delivered was charged: see the receipt.',
  hidden:
    'The run was cancelled. What the model server wrote until then was charged, with as much ' +
    "unseen reasoning as this model's other runs have: see the receipt.",
  drained:
    'The client hung up while the model server was at work. Its answer was read to the end all ' +
    'the same, as this model can reason unseen, and charged: see the receipt.',
}
const braked = 'The brake of the key was pulled, and this run with it.'
const brakeStopped: Record<ChargeScope, string> = {
  nothing: `${braked} Nothing was charged.`,
  input: `${braked} Its input was charged: see the receipt.`,
  output: `${braked} What it delivered was charged: see the receipt.`,
  hidden: `${braked} What it wrote was charged, unseen reasoning included: see the receipt.`,
  drained: `${braked} What it delivered was charged: see the receipt.`,
}
const brokeOff =
  'The model server broke off. The output delivered until then was charged: see the receipt.'
