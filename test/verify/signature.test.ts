import { expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import fc from 'fast-check'
import { fromHex, toHex } from '../../src/kernel/hex.ts'
import { portableCurve } from '../../src/proof/signer/secp256k1.ts'
import { addressOf } from '../../src/verify/address.ts'
import { recoverSigner } from '../../src/verify/signature.ts'

const n = secp256k1.Point.CURVE().n
const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 })
const word = (value: bigint) => value.toString(16).padStart(64, '0')

test('The signer is recovered from 50 signatures.', () => {
  for (let i = 0; i < 50; i++) {
    const key = new Uint8Array(createHash('sha256').update(`key ${i}`).digest())
    const digest = new Uint8Array(createHash('sha256').update(`digest ${i}`).digest())
    const address = addressOf(secp256k1.getPublicKey(key, false))
    const signature = toHex(portableCurve.sign(digest, key))
    expect(recoverSigner(digest, signature)).toEqual({ ok: true, address })
  }
})

test('any r, s and v give what the curve library gives', () => {
  const scalar = fc.oneof(
    fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
    fc.constantFrom(0n, 1n, 2n, n / 2n, n / 2n + 1n, n - 1n, n, n + 1n, 2n ** 256n - 1n),
  )
  fc.assert(
    fc.property(bytes32, scalar, scalar, fc.constantFrom(0, 1), (digest, r, s, bit) => {
      const found = recoverSigner(digest, `0x${word(r)}${word(s)}${(27 + bit).toString(16)}`)
      expect(found.ok ? found.address : undefined).toBe(oracle(digest, r, s, bit))
    }),
    { numRuns: 300 },
  )
})

test('every combination of edges of r, s and the digest gives what the curve library gives', () => {
  const edges = [0n, 1n, 2n, 5n, 7n, n / 2n, n / 2n + 1n, n - 1n, n, n + 1n, 2n ** 256n - 1n]
  for (const r of [...edges, secp256k1.Point.BASE.x]) {
    for (const s of edges) {
      for (const z of edges) {
        const digest = fromHex(`0x${word(z)}`)
        const found = recoverSigner(digest, `0x${word(r)}${word(s)}1b`)
        expect(found.ok ? found.address : undefined).toBe(oracle(digest, r, s, 0))
      }
    }
  }
})

test('a digest that makes the key the point at infinity has no signer', () => {
  // R = G and s = z: s·R − z·G vanishes.
  const r = secp256k1.Point.BASE.toAffine().x
  const digest = new Uint8Array(32)
  digest[31] = 5
  const bit = secp256k1.Point.BASE.toAffine().y % 2n === 0n ? '1b' : '1c'
  expect(recoverSigner(digest, `0x${word(r)}${word(5n)}${bit}`).ok).toBe(false)
})

function oracle(digest: Uint8Array, r: bigint, s: bigint, bit: number): string | undefined {
  try {
    const signature = new secp256k1.Signature(r, s, bit)
    if (signature.hasHighS()) return undefined
    return addressOf(signature.recoverPublicKey(digest).toBytes(false))
  } catch {
    return undefined
  }
}
