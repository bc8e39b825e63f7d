/** Signs with Ed25519, for notes: the log's checkpoints and a witness's cosignatures. */
import { createPrivateKey, createPublicKey, sign, verify } from 'node:crypto'
import { useEd25519 } from '../../verify/ed25519.ts'

/** A key that signs notes, in a closure from which nothing can print it. */
export type NoteSigner = {
  /** 32 bytes. */
  publicKey: Uint8Array
  /** 64 bytes over any message; deterministic (RFC 8032). */
  sign(message: Uint8Array): Uint8Array
}

/** PKCS #8 of an Ed25519 key, up to its seed (RFC 8410). */
const pkcs8 = Buffer.from('302e020100300506032b657004220420', 'hex')

/** The key of a seed of 32 bytes. @throws Error for another length. */
export function noteSigner(seed: Uint8Array): NoteSigner {
  if (seed.length !== 32) throw new Error('the seed of a note key has 32 bytes')
  const der = Buffer.concat([pkcs8, seed])
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  const spki = createPublicKey(key).export({ format: 'der', type: 'spki' })
  return Object.freeze({
    publicKey: new Uint8Array(spki.subarray(-32)),
    sign: (message: Uint8Array) => new Uint8Array(sign(null, message, key)),
  })
}

/**
 * The note key of a log, derived from the key that signs its receipts: a rotation of that key
 * changes both, and a copy of that key is a copy of both.
 */
export const logNoteSigner = (signer: { derive(purpose: string): Uint8Array }): NoteSigner =>
  noteSigner(signer.derive('counterfoil log note v1'))

/** Makes every check of this process native; once, at start, on servers and commands only. */
export const useNativeEd25519 = (): void => useEd25519(verifyNatively)

/** A public key in SubjectPublicKeyInfo, up to its 32 bytes (RFC 8410). */
const spki = Buffer.from('302a300506032b6570032100', 'hex')

/** Verifies with OpenSSL. The caller has checked the forms of key and signature. */
function verifyNatively(signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array) {
  try {
    const der = Buffer.concat([spki, publicKey])
    const key = createPublicKey({ key: der, format: 'der', type: 'spki' })
    return verify(null, message, key, signature)
  } catch {
    // No point of the curve.
    return false
  }
}
