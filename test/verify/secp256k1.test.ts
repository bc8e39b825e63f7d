import { describe, expect, test } from 'bun:test'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { order, recoverKey } from '../../src/verify/secp256k1.ts'

const bytesOf = (n: bigint) => Buffer.from(n.toString(16).padStart(64, '0'), 'hex')
const hashOf = (text: string) =>
  new Uint8Array(new Bun.CryptoHasher('sha256').update(text).digest().buffer)
const numberOf = (bytes: Uint8Array) => BigInt(`0x${Buffer.from(bytes).toString('hex')}`)

/** What the library finds; undefined where it refuses. */
function libraryKey(digest: Uint8Array, r: bigint, s: bigint, bit: number) {
  try {
    const { Signature } = secp256k1
    const found = new Signature(r, s).addRecoveryBit(bit).recoverPublicKey(digest)
    found.assertValidity()
    return { x: found.x, y: found.y }
  } catch {
    return undefined
  }
}

describe('the key that made a signature', () => {
  test('is the one that the library finds, for 200 keys and digests', () => {
    for (let i = 0; i < 200; i++) {
      const secret = hashOf(`key ${i}`)
      const digest = hashOf(`digest ${i}`)
      const sign = { prehash: false, format: 'recovered' } as const
      const [bit = 0, ...rest] = secp256k1.sign(digest, secret, sign)
      const [r, s] = [rest.slice(0, 32), rest.slice(32)].map((one) =>
        numberOf(Uint8Array.from(one)),
      )
      const key = recoverKey({ z: numberOf(digest), r: r ?? 0n, s: s ?? 0n, isOdd: bit === 1 })
      const { x, y } = secp256k1.Point.fromBytes(secp256k1.getPublicKey(secret))
      expect(key).toEqual({ x, y })
    }
  })

  test('is the library’s for numbers that nobody signed, also where there is none', () => {
    let none = 0
    for (let i = 0; i < 200; i++) {
      const [r, s] = [numberOf(hashOf(`r ${i}`)), numberOf(hashOf(`s ${i}`))]
      const digest = hashOf(`any ${i}`)
      const expected = libraryKey(digest, r, s, i % 2)
      expect(recoverKey({ z: numberOf(digest), r, s, isOdd: i % 2 === 1 })).toEqual(expected)
      if (!expected) none++
    }
    expect(none).toBeGreaterThan(50)
  })

  const edge = [0n, 1n, 2n, order - 1n, order, order + 1n, 2n ** 256n - 1n]
  test('is the library’s at the edges of every range', () => {
    for (const r of [...edge, 5n, 7n]) {
      for (const s of edge) {
        for (const z of edge) {
          for (const bit of [0, 1]) {
            const inRange = [r, s].every((one) => one > 0n && one < order)
            const expected = inRange ? libraryKey(bytesOf(z), r, s, bit) : undefined
            expect(recoverKey({ z, r, s, isOdd: bit === 1 })).toEqual(expected)
          }
        }
      }
    }
  })

  test('is none where the sum is the point at infinity', () => {
    // R = G, so that Q = r⁻¹(s − z)G: nothing is left for s = z.
    const { x, y } = secp256k1.Point.BASE
    const isOdd = y % 2n === 1n
    for (const z of [1n, 5n, order / 2n]) {
      expect(recoverKey({ z, r: x, s: z, isOdd })).toBeUndefined()
    }
    // R = G and s = −z: the two halves are one point, which has to be doubled.
    const z = 9n
    const expected = libraryKey(bytesOf(z), x, order - z, isOdd ? 1 : 0)
    expect(recoverKey({ z, r: x, s: order - z, isOdd })).toEqual(expected)
  })
})
