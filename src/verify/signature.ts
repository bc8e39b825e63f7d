import { weierstrass } from '@noble/curves/abstract/weierstrass.js'
import { addressOf } from './address.ts'
import { fromHex, type Hex, toHex } from './hex.ts'

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
  if (s > n / 2n) return no('Its s is in the upper half: a malleated twin.')
  try {
    const publicKey = recoverPublicKey(digest, `0x${signature.slice(2, 66)}`, s, v)
    return { ok: true, address: addressOf(publicKey) }
  } catch {
    return no('No public key can have made it.')
  }
}

/** The order of secp256k1 (SEC 2, section 2.4.1). */
const n = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

// The library's ready-made secp256k1 signs and hashes too, a third of the page that only verifies.
const Point = weierstrass({
  p: 2n ** 256n - 2n ** 32n - 977n,
  n,
  h: 1n,
  a: 0n,
  b: 7n,
  Gx: 0x79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798n,
  Gy: 0x483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8n,
})

/**
 * Q = r⁻¹(sR − zG) (SEC 1, section 4.1.6), 65 bytes. Nothing here is secret: no constant time.
 * @throws when r, s or the points they give are out of range.
 */
function recoverPublicKey(digest: Uint8Array, rHex: Hex, s: bigint, v: 27 | 28): Uint8Array {
  const r = BigInt(rHex)
  if (r === 0n || r >= n || s === 0n) throw new RangeError('out of range')
  const parity = v === 27 ? '02' : '03'
  const R = Point.fromBytes(fromHex(`0x${parity}${rHex.slice(2)}`))
  const inverse = Point.Fn.inv(r)
  const z = Point.Fn.create(BigInt(toHex(digest)))
  const u1 = Point.Fn.create(-z * inverse)
  const u2 = Point.Fn.create(s * inverse)
  const Q = Point.BASE.multiplyUnsafe(u1).add(R.multiplyUnsafe(u2))
  // Throws for the point at infinity, which is nobody's key.
  Q.assertValidity()
  return Q.toBytes(false)
}

const no = (reason: string): Recovered => ({ ok: false, reason })
