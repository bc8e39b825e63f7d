import { describe, expect, test } from 'bun:test'
import { createHash, createHmac } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { canonical } from '../../src/kernel/canonical.ts'
import { fromHex, toHex } from '../../src/kernel/hex.ts'
import { commit, salt } from '../../src/verify/commitment.ts'
import { redact } from '../../src/verify/receipt.ts'
import { promise } from '../support/promise.ts'
import { facts, fileOf } from './samples.ts'

const vectors = Bun.env['VECTORS_DIR']
const seed = new Uint8Array(32).fill(1)

test('a salt is HMAC-SHA256(seed, "salt/v1/" + name)', () => {
  const expected = createHmac('sha256', seed).update('salt/v1/run').digest('hex')
  expect(toHex(salt(seed, 'run'))).toBe(`0x${expected}`)
})

test('a commitment is SHA-256(tag || 0 || salt || SHA-256(JCS(value)))', () => {
  const inner = createHash('sha256').update('{"a":[1,"é"],"b":null}').digest()
  const expected = createHash('sha256').update('input/v1\0').update(seed).update(inner)
  const opened = commit('input/v1', seed, { b: null, a: [1.0, 'é'] })
  expect(toHex(opened)).toBe(`0x${expected.digest('hex')}`)
})

test('the same value as input and as output gives two commitments', () => {
  expect(toHex(commit('input/v1', seed, 'x'))).not.toBe(toHex(commit('output/v1', seed, 'x')))
})

test.each([
  ['NaN', Number.NaN],
  ['a lone surrogate', '\ud800'],
  ['undefined', undefined],
])('The value %s has no commitment.', (_, value) => {
  expect(() => commit('input/v1', seed, value)).toThrow()
})

describe('a guessed text', () => {
  const yes = { ...facts, input: 'yes' }
  const shared = JSON.stringify(redact(fileOf(yes).receipt, ['subject']))
  const saltOf = (name: string) => salt(yes.seed, name)

  test('A guessed text matches with its salt.', () => {
    expect(shared).toContain(toHex(commit('input/v1', saltOf('input'), 'yes')).slice(2))
  })

  promise`G5`
  test('cannot be matched by any hash without it', () => {
    const known = JSON.parse(shared) as { run: { salt: string }; charge: { salt: string } }
    const salts = [
      new Uint8Array(0),
      new Uint8Array(32),
      fromHex(known.run.salt),
      fromHex(known.charge.salt),
    ]
    const plain = ['yes', '"yes"'].map((text) => createHash('sha256').update(text).digest('hex'))
    const salted = salts.map((guess) => toHex(commit('input/v1', guess, 'yes')).slice(2))
    for (const guess of [...plain, ...salted]) expect(shared).not.toContain(guess)
  })

  test('two receipts with the same text share nothing', () => {
    const other = fileOf({ ...yes, seed: new Uint8Array(32).fill(9) }).receipt
    const first = fileOf(yes).receipt
    expect(other.content).not.toEqual(first.content)
  })
})

describe.skipIf(!vectors)('JCS (RFC 8785), VECTORS_DIR', () => {
  const folder = join(vectors ?? '', 'jcs/testdata')
  const names = vectors ? readdirSync(join(folder, 'input')) : []

  test.each(names)('Canonical JSON equals the vector %s.', (name) => {
    const input = JSON.parse(readFileSync(join(folder, 'input', name), 'utf8'))
    expect(canonical(input)).toBe(readFileSync(join(folder, 'output', name), 'utf8').trimEnd())
  })

  test('Numbers in canonical JSON equal the vectors.', () => {
    const lines = readFileSync(join(vectors ?? '', 'jcs/es6-numbers-sample.csv'), 'utf8')
    for (const line of lines.trim().split('\n')) {
      const [bits = '', expected = ''] = line.split(',')
      const view = new DataView(new ArrayBuffer(8))
      view.setBigUint64(0, BigInt(`0x${bits}`))
      expect(canonical(view.getFloat64(0))).toBe(expected.trim())
    }
  })
})
