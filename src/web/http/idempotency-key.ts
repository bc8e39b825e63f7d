/** Reads the Idempotency-Key header. */
import { refuseField } from '../../kernel/refusal.ts'

/**
 * The Idempotency-Key of a request, or undefined when it sends none.
 * @throws Refusal 'invalid_request' unless it is 1–128 printable ASCII characters.
 */
export function readIdempotencyKey(headers: Headers): string | undefined {
  const key = headers.get('idempotency-key')
  if (key === null) return undefined
  if (!/^[\x20-\x7e]{1,128}$/.test(key)) {
    refuseField('Idempotency-Key', 'Idempotency-Key must be 1 to 128 printable ASCII characters.')
  }
  return key
}
