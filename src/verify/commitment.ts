/** Commitments to inputs and outputs. */
import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { canonical } from '../kernel/canonical.ts'

/** The tag keeps an input from passing as an output. */
export type CommitmentTag = 'input/v1' | 'output/v1'

/** One salt of a receipt, 32 bytes, derived from its secret 32-byte seed. */
export const salt = (seed: Uint8Array, name: string): Uint8Array =>
  hmac(sha256, seed, encoder.encode(`salt/v1/${name}`))

/**
 * Binds to a JSON value without telling it, 32 bytes: SHA-256(tag || 0x00 || salt || SHA-256(JCS)).
 * @throws when the value has no canonical form.
 */
export function commit(tag: CommitmentTag, saltBytes: Uint8Array, value: unknown): Uint8Array {
  return sha256
    .create()
    .update(encoder.encode(`${tag}\0`))
    .update(saltBytes)
    .update(sha256(encoder.encode(canonical(value))))
    .digest()
}

const encoder = new TextEncoder()
