/** Recovers the signer of a digest. */
import { Point, recoverPublicKey } from '@noble/secp256k1'
import { fromHex } from '../kernel/hex.ts'
import { addressOf } from './address.ts'

export type Recovery = { ok: true; address: string } | { ok: false; reason: string }

/**
 * Recovers the signer of a digest as an EIP-55 address. Accepts one spelling only, so that a
 * signature cannot be malleated into a second one: 65 bytes r || s || v in lower-case hex, v 27 or
 * 28, s in the lower half. Never throws.
 */
export function recoverSigner(digest: Uint8Array, signature: string): Recovery {
  if (!/^0x[0-9a-f]{130}$/.test(signature)) return no('It is not 65 bytes of lower-case hex.')
  const v = Number.parseInt(signature.slice(130), 16)
  if (v !== 27 && v !== 28) return no('Its last byte v is neither 27 nor 28.')
  const s = BigInt(`0x${signature.slice(66, 130)}`)
  if (s > order / 2n) return no('Its s is in the upper half: a malleated twin.')
  const recovered = fromHex(`0x0${v - 27}${signature.slice(2, 130)}`)
  try {
    const key = recoverPublicKey(recovered, digest, { prehash: false, isCompressed: false })
    return { ok: true, address: addressOf(key) }
  } catch {
    return no('No public key can have made it.')
  }
}

const order = Point.CURVE().n

const no = (reason: string): Recovery => ({ ok: false, reason })
