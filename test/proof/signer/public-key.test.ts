import { describe, expect, test } from 'bun:test'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { hexToBytes } from '@noble/hashes/utils.js'
import fc from 'fast-check'
import { toHex } from '../../../src/kernel/hex.ts'
import { nativeCurve, portableCurve } from '../../../src/proof/signer/secp256k1.ts'

const order = secp256k1.Point.Fn.ORDER
const keyOf = (scalar: bigint) => hexToBytes(scalar.toString(16).padStart(64, '0'))

describe.each([
  ['portable', portableCurve],
  ['native', nativeCurve()],
] as const)('the %s public key of a key', (_, curve) => {
  const expectSame = (key: Uint8Array) =>
    expect(curve && toHex(curve.publicKeyOf(key))).toBe(toHex(secp256k1.getPublicKey(key, false)))

  test.skipIf(!curve)('is the curve library’s at the ends of the range', () => {
    for (const scalar of [1n, 2n, order / 2n, order / 2n + 1n, order - 2n, order - 1n]) {
      expectSame(keyOf(scalar))
    }
  })

  test.skipIf(!curve)('is the curve library’s for any key', () => {
    const scalars = fc.bigInt({ min: 1n, max: order - 1n })
    fc.assert(fc.property(scalars, (scalar) => void expectSame(keyOf(scalar))))
  })

  test.skipIf(!curve)('is refused for zero, which is not a key', () => {
    expect(() => curve?.publicKeyOf(keyOf(0n))).toThrow()
  })
})
