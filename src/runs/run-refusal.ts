/** The error that the caller of a run gets when it broke off. */
import { Refusal, type RefusalDetail } from '../kernel/refusal.ts'
import { retryHeaders } from '../kernel/retry-headers.ts'
import { UpstreamFailure } from '../models/upstream/upstream.ts'
import { circuitOpenRefusal } from './circuit.ts'
import { isOurs, type LiveRun, type StopReason } from './live-run.ts'

/**
 * The charge of a run that broke off: nothing, its input alone, its output; its output and what
 * was written unseen; or all of an answer that was read to its end without its client.
 */
export type ChargeScope = 'nothing' | 'input' | 'output' | 'hidden' | 'drained'

/** The message never claims that nothing was charged where something was. */
export function refusalOf(
  error: unknown,
  stopped: StopReason | undefined,
  charge: ChargeScope,
  contextTokens = 0,
): Refusal {
  const isOverloaded = saysOverloaded(error)
  const charged = chargedWords(charge, isOverloaded)
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
  return ofFailure(error, charge, contextTokens) ?? new Refusal('upstream_error', charged)
}

/** The error for a failure that has one of its own. */
function ofFailure(
  error: UpstreamFailure,
  charge: ChargeScope,
  contextTokens: number,
): Refusal | undefined {
  const isOverloaded = saysOverloaded(error)
  if (error.reason === 'timeout' || error.reason === 'too_long') {
    return new Refusal('upstream_timeout', chargedWords(charge, isOverloaded))
  }
  if (error.reason === 'open') return circuitOpenRefusal(error.retryAfterMs ?? 0)
  if (error.reason === 'share') {
    return new Refusal('concurrency_limited', {
      message: 'Your account already uses its share of this model. Wait for a run to end.',
      headers: retryHeaders(2000),
    })
  }
  if (error.reason === 'limited') {
    return new Refusal('rate_limited', {
      message:
        "The model server's limits are reached. Nothing was charged; try again after Retry-After.",
      headers: waitOf(error),
    })
  }
  if (error.reason === 'busy') {
    return new Refusal('unavailable', {
      message:
        charge === 'nothing'
          ? 'The model server is busy. Nothing was charged; try again after Retry-After.'
          : brokeOff,
      // No earlier than the server says: it would only refuse again.
      headers: waitOf(error),
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
  return undefined
}

const chargedWords = (charge: ChargeScope, isOverloaded: boolean) => ({
  ...(charge === 'nothing' ? {} : { message: brokeOff }),
  ...(isOverloaded ? { isOverloaded } : {}),
})

/** The time that a server asks for, as far as clients heed it. */
const waitOf = ({ retryAfterMs = 2000 }: UpstreamFailure): Record<string, string> =>
  retryHeaders(Math.min(Math.max(1000, retryAfterMs), 60_000))

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

/** Whether nothing but the client's own side ended a run, or it sent what no model takes. */
export function isByClient(
  live: Pick<LiveRun, 'hasTrouble'>,
  error: unknown,
  stopped: StopReason | undefined,
): boolean {
  if (live.hasTrouble) return false
  // Its purse has less than the model can cost, where a server takes no limit.
  if (error instanceof Refusal) {
    return error.type === 'insufficient_balance' || error.type === 'cap_exceeded'
  }
  if (!(error instanceof UpstreamFailure)) return false
  const { reason, status } = error
  // Keys are revoked and sessions ended by its account, suspensions are the operator's.
  if (stopped !== undefined) {
    return reason === 'aborted' && !isOurs.has(stopped) && stopped !== 'account_suspended'
  }
  // A 404 says that the operator names a model which the server does not have.
  return reason === 'context' || (reason === 'rejected' && status !== 404)
}
