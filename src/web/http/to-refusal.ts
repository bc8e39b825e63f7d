/** Turns any error into a refusal. */
import { InvalidCookieSignature, NotFoundError, ParseError, ValidationError } from 'elysia'
import { Refusal } from '../../kernel/refusal.ts'
import { StorageFault } from '../../kernel/storage-fault.ts'

/** Maps Elysia's own errors too; any other error is a bug and becomes a 500 without detail. */
export function toRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error
  if (error instanceof StorageFault) return error.toRefusal()
  if (error instanceof NotFoundError) return new Refusal('not_found')
  if (error instanceof ParseError || error instanceof InvalidCookieSignature) {
    return new Refusal('invalid_request')
  }
  // An answer that breaks its own schema is our bug, and its text would show the answer.
  if (error instanceof ValidationError && error.type !== 'response') {
    return new Refusal('invalid_request')
  }
  return new Refusal('internal_error')
}
