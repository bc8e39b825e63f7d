/** Chooses the error a caller gets when a run fails. */
import { Refusal, type RefusalDetail } from '../kernel/refusal.ts'
import { UpstreamFailure } from '../models/upstream/upstream.ts'
import type { StopReason } from './live-run.ts'

/**
 * What a run is charged that broke off: nothing, its input alone, its output; its output and what
 * was written unseen; or all of an answer that was read to its end without its client.
 */
export type Charged = 'nothing' | 'input' | 'output' | 'hidden' | 'drained'

/** The message never claims that nothing was charged where something was. */
export function refusalOf(
  error: unknown,
  stopped: StopReason | undefined,
  charge: Charged,
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
    return new Refusal('session_required', { message: signedOut })
  }
  if (stopped === 'shutdown') {
    const headers = { 'retry-after': '1', 'retry-after-ms': '1000' }
    return new Refusal('unavailable', { message: 'The server is stopping. Try again.', headers })
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
      headers: { 'retry-after': '2', 'retry-after-ms': '2000' },
    })
  }
  if (error.reason === 'busy') {
    // No earlier than the server says: it would only refuse again.
    const ms = Math.max(1000, error.retryAfterMs ?? 2000)
    return new Refusal('unavailable', {
      message:
        charge === 'nothing'
          ? 'The model server is busy. Nothing was charged; try again after Retry-After.'
          : brokeOff,
      headers: { 'retry-after': String(Math.ceil(ms / 1000)), 'retry-after-ms': String(ms) },
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
      message: tooLongFor(contextTokens),
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
function rejection(error: UpstreamFailure, charge: Charged): Refusal {
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

/** What the server answered, for programs. */
function upstreamMetadata({ status, words }: UpstreamFailure): {
  metadata?: RefusalDetail['metadata']
} {
  if (status === undefined) return {}
  const code = words?.isRelayed ? words.code : undefined
  return { metadata: { upstream: { status, ...(code === undefined ? {} : { code }) } } }
}

/** The error for a model whose circuit stays open for `openMs` more milliseconds; at least 1 s. */
export function circuitOpenRefusal(openMs: number): Refusal {
  const ms = Math.max(1000, Math.ceil(openMs))
  return new Refusal('unavailable', {
    message:
      'The model server is failing; requests to it are paused. Nothing was charged. Retry after ' +
      'the time in Retry-After.',
    headers: { 'retry-after': String(Math.ceil(ms / 1000)), 'retry-after-ms': String(ms) },
  })
}

const cancelled: Record<Charged, string> = {
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
const brakeStopped: Record<Charged, string> = {
  nothing: `${braked} Nothing was charged.`,
  input: `${braked} Its input was charged: see the receipt.`,
  output: `${braked} What it delivered was charged: see the receipt.`,
  hidden: `${braked} What it wrote was charged, unseen reasoning included: see the receipt.`,
  drained: `${braked} What it delivered was charged: see the receipt.`,
}
/** Agents look for the words "maximum context length" to shorten what they send. */
const tooLongFor = (contextTokens: number): string =>
  `The request exceeds the model's maximum context length of ${contextTokens} tokens. Send fewer ` +
  'or shorter messages, or lower max_tokens. Nothing was charged.'
const signedOut = 'Your session ended, and the run with it.'
const brokeOff =
  'The model server broke off. The output delivered until then was charged: see the receipt.'
