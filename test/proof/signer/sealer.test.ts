import { describe, expect, test } from 'bun:test'
import { systemRandom } from '../../../src/kernel/random.ts'
import { makeSealer } from '../../../src/proof/signer/sealer.ts'
import { signerFromHex } from '../../../src/proof/signer/signer.ts'
import { testPrivateKey } from '../../support/world.ts'

const sealerOf = (hex: string) => makeSealer(signerFromHex(hex), systemRandom())
const sealer = sealerOf(testPrivateKey)
const other = sealerOf('59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d')
const long = 'data: {"choices":[{"delta":{"content":"w\u00f6rd"}}]}\n\n'.repeat(500)

describe('a sealed text', () => {
  test.each(['', 'short', long, '\ud83d\ude00'])('opens where it was sealed: %#', (text) => {
    expect(sealer.open(sealer.seal(text, 'here'), 'here')).toBe(text)
  })

  test('opens for every process with the same signer', () => {
    expect(sealerOf(testPrivateKey).open(sealer.seal('text', 'here'), 'here')).toBe('text')
  })

  test('does not open elsewhere, for another signer, changed or cut', () => {
    const sealed = sealer.seal('text', 'here')
    expect(sealer.open(sealed, 'there')).toBeUndefined()
    expect(other.open(sealed, 'here')).toBeUndefined()
    for (let i = 0; i < sealed.length; i++) {
      const changed = sealed.slice()
      changed[i] = (changed[i] ?? 0) ^ 1
      expect(sealer.open(changed, 'here')).toBeUndefined()
      expect(sealer.open(sealed.slice(0, i), 'here')).toBeUndefined()
    }
  })

  test('is another one each time, and a long one takes a fraction of its room', () => {
    expect(sealer.seal('text', 'here')).not.toEqual(sealer.seal('text', 'here'))
    expect(sealer.seal(long, 'here').length).toBeLessThan(long.length / 10)
  })
})

test('fingerprints are equal for equal texts and one signer only', () => {
  expect(sealer.fingerprint('a')).toBe(sealerOf(testPrivateKey).fingerprint('a'))
  expect(sealer.fingerprint('a')).not.toBe(sealer.fingerprint('b'))
  expect(sealer.fingerprint('a')).not.toBe(other.fingerprint('a'))
  expect(sealer.name).not.toBe(other.name)
})
