import { describe, expect, test } from 'bun:test'
import { crc32 } from 'node:zlib'
import { fingerprintOf, hashSecret, isSecret, makeSecret } from '../../../src/access/keys/secret.ts'
import { systemRandom } from '../../../src/kernel/random.ts'
import { promise } from '../../support/promise.ts'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** The number a base62 text stands for, most significant digit first. */
const numberOf = (text: string): bigint =>
  [...text].reduce((sum, digit) => sum * 62n + BigInt(alphabet.indexOf(digit)), 0n)

describe('a secret', () => {
  const random = systemRandom()
  const secrets = Array.from({ length: 10_000 }, () => makeSecret(random))

  promise`A1 C: A secret has 256 random bits, one form and one length, and ends in a checksum.`
  test('has 60 characters of the documented form, 10,000 times without a duplicate', () => {
    const form = /^sk-service-[0-9A-Za-z]{43}[0-9A-Za-z]{6}$/
    expect(secrets.filter((secret) => secret.length !== 60 || !form.test(secret))).toEqual([])
    expect(new Set(secrets).size).toBe(10_000)
    expect(new Set(secrets.map(hashSecret)).size).toBe(10_000)
    expect(secrets.every(isSecret)).toBe(true)
  })

  test('ends in the CRC-32 of all before it', () => {
    const wrong = secrets.filter(
      (secret) => numberOf(secret.slice(54)) !== BigInt(crc32(secret.slice(0, 54))),
    )
    expect(wrong).toEqual([])
  })

  promise`A1`
  test('carries 256 bits, and its digits are evenly spread', () => {
    const numbers = secrets.map((secret) => numberOf(secret.slice(11, 54)))
    expect(numbers.every((number) => number < 2n ** 256n)).toBe(true)
    // Each of the 256 bits is set in about half of them; 5 sigma are 250.
    for (let bit = 0n; bit < 256n; bit++) {
      const set = numbers.filter((number) => (number >> bit) & 1n).length
      expect(Math.abs(set - 5000)).toBeLessThan(400)
    }
  })

  test('is rejected with any one character changed', () => {
    for (const secret of secrets.slice(0, 40)) {
      for (let i = 0; i < secret.length; i++) {
        const from = secret.charAt(i)
        const to = alphabet.charAt((alphabet.indexOf(from) + 1 + (i % 60)) % 62)
        expect(isSecret(secret.slice(0, i) + to + secret.slice(i + 1))).toBe(from === to)
      }
    }
  })

  test('is rejected with two neighbours swapped, a character too few or too many', () => {
    for (const secret of secrets.slice(0, 40)) {
      for (let i = 11; i < 59; i++) {
        const [a, b] = [secret.charAt(i), secret.charAt(i + 1)]
        if (a !== b) expect(isSecret(secret.slice(0, i) + b + a + secret.slice(i + 2))).toBe(false)
      }
      expect(isSecret(secret.slice(1))).toBe(false)
      expect(isSecret(secret.slice(0, -1))).toBe(false)
      expect([`${secret}0`, `${secret}\n`, ` ${secret}`].filter(isSecret)).toEqual([])
    }
  })

  test('is rejected in another form, though its checksum is right', () => {
    const digitsOf = (number: number): string =>
      number < 62
        ? alphabet.charAt(number)
        : digitsOf(Math.floor(number / 62)) + alphabet.charAt(number % 62)
    const sum = (body: string) => body + digitsOf(crc32(body)).padStart(6, '0')
    const [good, ...others] = [
      `sk-service-${'0'.repeat(43)}`,
      `sk-servicE-${'0'.repeat(43)}`,
      `pk-service-${'0'.repeat(43)}`,
      `sk-service-${'0'.repeat(42)}_`,
      `sk-service-${'0'.repeat(42)}\n`,
    ].map(sum)
    expect([isSecret(good ?? ''), others.filter(isSecret)]).toEqual([true, []])
  })

  test('is not what is stored: its SHA-256 is, and people see 12 digits of that', () => {
    const secret = secrets[0] ?? ''
    const hash = new Bun.CryptoHasher('sha256').update(secret).digest('hex')
    expect(hashSecret(secret)).toBe(hash)
    expect(fingerprintOf(hash)).toBe(hash.slice(0, 12))
  })

  test('pads small numbers with 0 on the left', () => {
    const low = makeSecret({ bytes: (count) => new Uint8Array(count) })
    expect(low.slice(0, 54)).toBe(`sk-service-${'0'.repeat(43)}`)
    expect(isSecret(low)).toBe(true)
    const high = makeSecret({ bytes: (count) => new Uint8Array(count).fill(255) })
    expect(numberOf(high.slice(11, 54))).toBe(2n ** 256n - 1n)
    expect(isSecret(high)).toBe(true)
  })
})
