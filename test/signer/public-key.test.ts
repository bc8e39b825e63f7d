import { describe, expect, test } from 'bun:test'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { hexToBytes } from '@noble/hashes/utils.js'
import fc from 'fast-check'
import { publicKeyOf } from '../../src/signer/public-key.ts'
import { toHex } from '../../src/verify/hex.ts'

const order = secp256k1.Point.Fn.ORDER
const keyOf = (scalar: bigint) => hexToBytes(scalar.toString(16).padStart(64, '0'))

const expectSame = (key: Uint8Array) =>
  expect(toHex(publicKeyOf(key))).toBe(toHex(secp256k1.getPublicKey(key, false)))

describe('the public key of a key', () => {
  test('is the library’s for every digit at every place', () => {
    for (let place = 0n; place < 64n; place++) {
      for (let digit = 1n; digit < 16n; digit++) {
        const scalar = digit << (4n * place)
        if (scalar < order) expectSame(keyOf(scalar))
      }
    }
  })

  test('is the library’s at the ends of the range', () => {
    for (const scalar of [1n, 2n, order / 2n, order / 2n + 1n, order - 2n, order - 1n]) {
      expectSame(keyOf(scalar))
    }
  })

  test('is the library’s for any key', () => {
    const scalars = fc.bigInt({ min: 1n, max: order - 1n })
    fc.assert(fc.property(scalars, (scalar) => void expectSame(keyOf(scalar))))
  })

  test('is none for zero, which is no key', () => {
    expect(() => publicKeyOf(keyOf(0n))).toThrow()
  })
})
