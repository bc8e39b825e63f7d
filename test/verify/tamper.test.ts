import { describe, expect, test } from 'bun:test'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { fromHex, toHex } from '../../src/kernel/hex.ts'
import { promise } from '../support/promise.ts'
import { failed, judge, set } from './judge.ts'
import { fileOf } from './samples.ts'

promise`G1 C: A receipt is signed as typed data of our domain, and no field of it can be changed.`
describe('a flipped byte', () => {
  const leaves: [string, string][] = []
  const collect = (value: unknown, path: string) => {
    if (typeof value === 'string') leaves.push([path, value])
    else if (typeof value === 'object' && value !== null) {
      for (const [name, inner] of Object.entries(value)) collect(inner, `${path}.${name}`)
    }
  }
  collect(fileOf().receipt, 'receipt')

  test('there are as many fields as there are', () => expect(leaves).toHaveLength(29))

  test.each(leaves)('in %s breaks the digest', (path, text) => {
    for (const at of [0, Math.floor(text.length / 2), text.length - 1]) {
      const file = structuredClone(fileOf())
      set(file, path, flipped(text, at))
      const verdict = judge(file)
      expect(verdict.valid).toBe(false)
      expect(failed(verdict)[0]).toBeOneOf(['schema', 'digest'])
    }
  })

  test('in a field of text always reaches the digest check', () => {
    const file = structuredClone(fileOf())
    set(file, 'receipt.run.model', 'acme/small-2')
    expect(failed(judge(file))).toEqual(['digest', 'signer_authorized'])
  })

  test('in the digest breaks the digest check alone', () => {
    const file = fileOf()
    for (let at = 2; at < 66; at++) {
      const verdict = judge({ ...file, digest: flipped(file.digest, at) })
      expect(failed(verdict)).toEqual(['digest'])
    }
  })

  test('in any place of the signature breaks the signature or names another signer', () => {
    const file = fileOf()
    for (let at = 2; at < 132; at++) {
      const verdict = judge({ ...file, signature: flipped(file.signature, at) })
      expect(verdict.valid).toBe(false)
      expect(failed(verdict)).toHaveLength(1)
      expect(failed(verdict)[0]).toBeOneOf(['signature', 'signer_authorized'])
    }
  })

  test('in a disclosed value or salt breaks that content', () => {
    for (const name of ['input', 'output'] as const) {
      const salted = structuredClone(fileOf())
      const salt = salted.disclosures?.[name]?.salt ?? ''
      set(salted, `disclosures.${name}.salt`, flipped(salt, 20))
      expect(failed(judge(salted))).toEqual([`content_${name}`])
      const other = structuredClone(fileOf())
      set(other, `disclosures.${name}.value`, { other: 'text' })
      expect(failed(judge(other))).toEqual([`content_${name}`])
    }
  })
})

describe('a signature has one spelling', () => {
  const file = fileOf()
  const bytes = fromHex(file.signature)
  const n = secp256k1.Point.CURVE().n
  const twin = () => {
    const s = n - BigInt(toHex(bytes.slice(32, 64)))
    const v = bytes[64] === 27 ? '1c' : '1b'
    return `${file.signature.slice(0, 66)}${s.toString(16).padStart(64, '0')}${v}`
  }

  test.each([
    ['its high-s twin', twin(), 'Its s is in the upper half: a malleated twin.'],
    [
      'upper case',
      `0x${file.signature.slice(2).toUpperCase()}`,
      'It is not 65 bytes of lower-case hex.',
    ],
    ['compact (EIP-2098)', file.signature.slice(0, 130), 'It is not 65 bytes of lower-case hex.'],
    ['a byte more', `${file.signature}00`, 'It is not 65 bytes of lower-case hex.'],
    ['v 0', `${file.signature.slice(0, 130)}00`, 'Its last byte v is neither 27 nor 28.'],
    ['r 0', `0x${'00'.repeat(32)}${file.signature.slice(66)}`, 'No public key can have made it.'],
    ['nothing', '', 'It is not 65 bytes of lower-case hex.'],
  ])('The other spelling is refused: %s.', (_, signature, reason) => {
    const verdict = judge({ ...file, signature })
    expect(failed(verdict)).toEqual(['signature'])
    expect(verdict.checks.find(({ name }) => name === 'signature')?.reason).toBe(reason)
    expect(verdict).toMatchObject({ valid: false, level: null, signer: null })
  })
})

/** Changes one bit; a hex digit becomes another hex digit. */
function flipped(text: string, at: number): string {
  const digit = '0123456789abcdef'.indexOf(text.charAt(at))
  const other = digit < 0 ? String.fromCharCode(text.charCodeAt(at) ^ 1) : (digit ^ 1).toString(16)
  return text.slice(0, at) + other + text.slice(at + 1)
}
