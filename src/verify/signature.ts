import { addressOf } from './address.ts'
import { fromHex, toHex } from './hex.ts'
import { order, recoverKey } from './secp256k1.ts'

export type Recovered = { ok: true; address: string } | { ok: false; reason: string }

/**
 * Who signed this digest, as an EIP-55 address. One signature has one spelling here: 65 bytes
 * r || s || v in lower-case hex, v 27 or 28, s in the lower half. Others are refused, so that
 * nobody can make a second signature out of the first. Never throws.
 */
export function recoverSigner(digest: Uint8Array, signature: string): Recovered {
  if (!/^0x[0-9a-f]{130}$/.test(signature)) return no('It is not 65 bytes of lower-case hex.')
  const v = Number.parseInt(signature.slice(130), 16)
  if (v !== 27 && v !== 28) return no('Its last byte v is neither 27 nor 28.')
  const s = BigInt(`0x${signature.slice(66, 130)}`)
  if (s > order / 2n) return no('Its s is in the upper half: a malleated twin.')
  const r = BigInt(`0x${signature.slice(2, 66)}`)
  const key = recoverKey({ z: BigInt(toHex(digest)), r, s, isOdd: v === 28 })
  if (!key) return no('No public key can have made it.')
  const hex = [key.x, key.y].map((one) => one.toString(16).padStart(64, '0')).join('')
  return { ok: true, address: addressOf(fromHex(`0x04${hex}`)) }
}

const no = (reason: string): Recovered => ({ ok: false, reason })
