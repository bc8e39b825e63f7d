/** Writes errors as Anthropic's Messages API does. */
import type { Json } from '../../../kernel/canonical.ts'
import type { JsonObject } from '../../../kernel/json-object.ts'
import { type ErrorForm, type Refusal, toErrorBody } from '../../../kernel/refusal.ts'

const byStatus: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  405: 'invalid_request_error',
  409: 'conflict_error',
  413: 'request_too_large',
  415: 'invalid_request_error',
  422: 'invalid_request_error',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  504: 'timeout_error',
}

/** The error as clients of this protocol read it; our own type and its details stand beside it. */
export function messagesError(refusal: Refusal, requestId: string): JsonObject {
  const { isOverloaded } = refusal.detail
  const type = isOverloaded ? 'overloaded_error' : (byStatus[refusal.status] ?? 'api_error')
  const { error } = toErrorBody(refusal, requestId)
  const { message, metadata, ...rest } = { metadata: undefined, ...error }
  const details: Json = JSON.parse(JSON.stringify({ ...rest, ...metadata }))
  return {
    type: 'error',
    error: { type, message: wordsFor(refusal, message), details },
    request_id: requestId,
  }
}

/** A server that is overloaded has a status of its own here. */
export const messagesErrors: ErrorForm = {
  toBody: messagesError,
  statusOf: ({ status, detail }) => (status >= 500 && detail.isOverloaded ? 529 : status),
  idHeader: 'request-id',
}

/** Anthropic's clients shorten a conversation where they find these words. */
const wordsFor = ({ type }: Refusal, message: string): string =>
  type === 'context_length_exceeded' ? `prompt is too long: ${message}` : message
