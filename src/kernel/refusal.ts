/**
 * Every way the service says no, in one table. The `type` is public API: add, never rename.
 * The message is what a caller reads when the place that refused had nothing better to say.
 */
import type { Actor } from './acting.ts'

export const refusals = {
  invalid_request: [400, 'The request is not well formed.'],
  context_length_exceeded: [400, "The request exceeds the model's maximum context length."],
  invalid_key: [
    401,
    'Send a valid API key as "Authorization: Bearer sk-service-…". This one is missing or unknown.',
  ],
  session_required: [401, 'Sign in with your wallet first.'],
  insufficient_balance: [402, 'The balance does not cover the most this run can cost. Top it up.'],
  cap_exceeded: [402, "The key's spending cap does not cover the most this run can cost."],
  key_revoked: [403, 'This key, or a key above it, was revoked. Ask its owner for another one.'],
  key_expired: [403, 'This key, or a key above it, is past its expiry. Ask for another one.'],
  key_paused: [403, 'This key, or a key above it, is paused. Resume it to go on.'],
  scope_denied: [403, 'This key does not carry the scope that the route needs.'],
  model_not_allowed: [403, 'This key may not use this model. GET /v1/keys/self lists its models.'],
  ip_not_allowed: [403, 'This key may not be used from this network address.'],
  role_denied: [403, 'Your role does not allow this. Ask an owner of the account.'],
  account_suspended: [403, 'The account is suspended. Ask the operator.'],
  csrf_failed: [403, 'The request came from another origin. Send it from the dashboard itself.'],
  signature_invalid: [403, 'The signature does not match. Nothing was signed in.'],
  nonce_invalid: [403, 'The nonce is unknown, used or too old. Start the sign-in again.'],
  not_found: [404, 'There is nothing here. Check the path and the id.'],
  model_not_found: [404, 'There is no such model. GET /v1/models lists those there are.'],
  receipt_not_found: [404, 'There is no such receipt, or it is private.'],
  method_not_allowed: [405, 'This path exists, but not with this method. See the Allow header.'],
  conflict: [409, 'The request does not fit the present state.'],
  idempotency_in_progress: [409, 'A request with this Idempotency-Key is still running. Wait.'],
  gone: [410, 'This was retired and does not come back.'],
  payload_too_large: [413, 'The body is too large.'],
  unsupported_media_type: [415, 'Send a JSON body as application/json.'],
  misdirected_request: [421, 'This server does not answer for that Host. Use its base URL.'],
  unprocessable: [422, 'The JSON is readable, but not what this route takes.'],
  idempotency_mismatch: [422, 'This Idempotency-Key was used with another body. Use a new key.'],
  rate_limited: [429, 'Too many requests. Wait as long as Retry-After says.'],
  concurrency_limited: [429, 'Too many runs at once with this key. Wait for one to end.'],
  internal_error: [500, 'Something broke on our side. Quote the request id to the operator.'],
  upstream_error: [502, 'The model server failed. Nothing was charged; try again.'],
  unavailable: [503, 'The service cannot take this now. Nothing was charged; try again.'],
  chain_unavailable: [503, 'The chain cannot be reached now. Try again.'],
  log_diverged: [
    503,
    'The log lacks what was signed or anchored of it. Nothing is issued; ask the operator.',
  ],
  log_damaged: [
    503,
    'A leaf of the log is damaged, so what rests on it cannot be proven. Ask the operator.',
  ],
  upstream_timeout: [504, 'The model server took too long. Nothing was charged; try again.'],
} as const satisfies Record<string, readonly [status: number, message: string]>

export type RefusalType = keyof typeof refusals

/** The optional parts of a refusal. */
export type RefusalDetail = {
  /** The next step, in one or two sentences. */
  message?: string
  /** The field of the request that is wrong, as a path: `cap.limit_nusd`. */
  param?: string
  metadata?: Record<string, unknown>
  headers?: Record<string, string>
  /** Whether the model server said that it is overloaded, which one protocol has a status for. */
  isOverloaded?: boolean
  /** The signed-in wallet, for pages; JSON answers never contain it. */
  reader?: Actor
}

/** An expected no. Anything else that is thrown is a bug and becomes a 500 without detail. */
export class Refusal extends Error {
  readonly status: number
  constructor(
    readonly type: RefusalType,
    readonly detail: RefusalDetail = {},
  ) {
    super(detail.message ?? refusals[type][1])
    this.status = refusals[type][0]
  }
}

/** Throws a {@link Refusal}. Reads as a sentence: `if (expired) refuse('key_expired')`. */
export function refuse(type: RefusalType, detail?: RefusalDetail | string): never {
  throw new Refusal(type, typeof detail === 'string' ? { message: detail } : detail)
}

/** Refuses a request because of one of its fields. */
export function refuseField(param: string, message: string): never {
  refuse('invalid_request', { param, message })
}

/** The one error body of `/v1` and `/api`. `code` equals `type`: SDKs read either. */
export function toErrorBody(refusal: Refusal, requestId: string) {
  const { param, metadata } = refusal.detail
  return {
    error: {
      type: refusal.type,
      code: refusal.type,
      message: refusal.message,
      param: param ?? null,
      request_id: requestId,
      ...(metadata ? { metadata } : {}),
    },
  }
}

/** How a protocol writes a refusal. */
export type ErrorForm = {
  toBody(refusal: Refusal, requestId: string): object
  statusOf(refusal: Refusal): number
  /** A header in which its clients look for the id of the request, beside `x-request-id`. */
  idHeader?: string
}

export const ourErrors: ErrorForm = { toBody: toErrorBody, statusOf: ({ status }) => status }
