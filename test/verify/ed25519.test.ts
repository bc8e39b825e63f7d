import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { ed25519 } from '@noble/curves/ed25519.js'
import { noteSigner, useNativeEd25519 } from '../../src/proof/signer/ed25519.ts'
import { portableEd25519, useEd25519, verifyEd25519 } from '../../src/verify/ed25519.ts'

setDefaultTimeout(60_000)

const hex = (text: string) => new Uint8Array(Buffer.from(text, 'hex'))
const seed = (n: number) => new Uint8Array(32).fill(n)
const text = (words: string) => new TextEncoder().encode(words)
const order = 2n ** 252n + 27742317777372353535851937790883648493n
const field = 2n ** 255n - 19n

const little = (n: bigint) => {
  let left = n
  return Uint8Array.from({ length: 32 }, () => {
    const byte = Number(left & 255n)
    left >>= 8n
    return byte
  })
}
const integer = (bytes: Uint8Array) =>
  bytes.reduceRight((sum, byte) => (sum << 8n) | BigInt(byte), 0n)

const arithmetics: [string, () => void][] = [
  ['plain integers', () => useEd25519(portableEd25519)],
  ['the library of the runtime', useNativeEd25519],
]

describe.each(arithmetics)('an Ed25519 signature by %s', (_, use) => {
  beforeAll(use)
  afterAll(() => useEd25519(portableEd25519))
  // RFC 8032 §7.1, tests 1 to 3.
  test.each([
    [
      'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
      '',
      'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b',
    ],
    [
      '3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c',
      '72',
      '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00',
    ],
    [
      'fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025',
      'af82',
      '6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a',
    ],
  ])('of RFC 8032 holds (key %s)', (key, message, signature) => {
    expect(verifyEd25519(hex(signature), hex(message), hex(key))).toBe(true)
  })

  test('made by OpenSSL or by another library holds, and for no other message or key', () => {
    for (let n = 0; n < 12; n++) {
      const signer = noteSigner(seed(n))
      const message = text('a'.repeat(n * 37))
      const signature = signer.sign(message)
      expect(signature).toEqual(ed25519.sign(message, seed(n)))
      expect(signer.publicKey).toEqual(ed25519.getPublicKey(seed(n)))
      expect(verifyEd25519(signature, message, signer.publicKey)).toBe(true)
      expect(verifyEd25519(signature, text(`${n}`), signer.publicKey)).toBe(false)
      expect(verifyEd25519(signature, message, noteSigner(seed(n + 1)).publicKey)).toBe(false)
    }
  })

  test('holds no longer after any bit of it was flipped', () => {
    const { publicKey, sign } = noteSigner(seed(5))
    const message = text('flipped')
    const signature = sign(message)
    for (let bit = 0; bit < 512; bit += 7) {
      const other = signature.slice()
      other[bit >> 3] = (other[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      expect([bit, verifyEd25519(other, message, publicKey)]).toEqual([bit, false])
    }
  })

  test('is refused with another length', () => {
    const { publicKey, sign } = noteSigner(seed(5))
    const signature = sign(text('x'))
    expect(verifyEd25519(signature.slice(1), text('x'), publicKey)).toBe(false)
    expect(verifyEd25519(new Uint8Array([...signature, 0]), text('x'), publicKey)).toBe(false)
    expect(verifyEd25519(signature, text('x'), publicKey.slice(1))).toBe(false)
    expect(verifyEd25519(signature, text('x'), new Uint8Array([...publicKey, 0]))).toBe(false)
  })

  test('has one form: s beyond the order is refused, although the equation holds', () => {
    const { publicKey, sign } = noteSigner(seed(6))
    const signature = sign(text('x'))
    const s = integer(signature.slice(32))
    const larger = new Uint8Array([...signature.slice(0, 32), ...little(s + order)])
    expect(verifyEd25519(larger, text('x'), publicKey)).toBe(false)
    const zero = new Uint8Array([...signature.slice(0, 32), ...little(order)])
    expect(verifyEd25519(zero, text('x'), publicKey)).toBe(false)
  })

  test('of a key without a point, or in a second form, is refused', () => {
    const identity = little(1n)
    // With the neutral point as key, R = sB holds for every message.
    const s = little(9n)
    const r = ed25519.Point.BASE.multiply(9n).toBytes()
    const forged = new Uint8Array([...r, ...s])
    expect(verifyEd25519(forged, text('x'), identity)).toBe(true)
    expect(verifyEd25519(forged, text('x'), little(1n + field))).toBe(false)
    expect(verifyEd25519(forged, text('x'), little(1n | (1n << 255n)))).toBe(false)
    // No x has this y.
    expect(verifyEd25519(forged, text('x'), little(2n))).toBe(false)
    expect(verifyEd25519(forged, text('x'), little(field))).toBe(false)
  })

  test('of s = 0 and the neutral point as R holds only where the equation does', () => {
    const nothing = new Uint8Array([...little(1n), ...little(0n)])
    expect(verifyEd25519(nothing, text('x'), little(1n))).toBe(true)
    expect(verifyEd25519(nothing, text('x'), noteSigner(seed(1)).publicKey)).toBe(false)
  })

  test('is judged as another library judges it, for keys of both signs', () => {
    for (let n = 0; n < 20; n++) {
      const key = little(BigInt(n) * 7919n + 3n)
      const signature = ed25519.sign(text('x'), seed(9))
      let theirs = false
      try {
        theirs = ed25519.verify(signature, text('x'), key, { zip215: false })
      } catch {
        // No point.
      }
      expect([n, verifyEd25519(signature, text('x'), key)]).toEqual([n, theirs])
    }
  })
})
