import { describe, expect, test } from 'bun:test'
import { toHex } from '../../src/kernel/hex.ts'
import { fromBase64, toBase64 } from '../../src/verify/base64.ts'
import { headText, parseHead, parseSize } from '../../src/verify/checkpoint-note.ts'
import { leafHash, nodeHash } from '../../src/verify/merkle.ts'

describe('a checkpoint', () => {
  const root = new Uint8Array(32).fill(3)
  const base64 = toBase64(root)

  test('is read as it was written, with further lines left aside', () => {
    const head = { origin: 'https://gw.example#2', size: 0n, root }
    expect(parseHead(headText(head))).toEqual(head)
    expect(parseHead(`${headText(head)}more\n`)).toEqual(head)
  })

  test.each([
    ['two lines', 'a\n1\n'],
    ['no newline at its end', `a\n1\n${base64}`],
    ['no newline behind a further line', `a\n1\n${base64}\nmore`],
    ['an empty origin', `\n1\n${base64}\n`],
    ['an empty further line', `a\n1\n${base64}\n\nb\n`],
    ['a size with a zero before it', `a\n01\n${base64}\n`],
    ['a negative size', `a\n-1\n${base64}\n`],
    ['a size that no log has', `a\n${2n ** 63n}\n${base64}\n`],
    ['a short root', `a\n1\n${toBase64(root.slice(1))}\n`],
    ['a root without padding', `a\n1\n${base64.replace('=', '')}\n`],
  ])('A text with %s is not a checkpoint.', (_, wrong) => {
    expect(parseHead(wrong)).toBeUndefined()
  })

  test('has a size up to 2^63 - 1', () => {
    expect(['0', '7', `${2n ** 63n - 1n}`].map(parseSize)).toEqual([0n, 7n, 2n ** 63n - 1n])
    expect(['', '00', '1 ', ' 1', '1.0', '0x1', '٣'].map(parseSize)).toEqual(
      ['', '00', '1 ', ' 1', '1.0', '0x1', '٣'].map(() => undefined),
    )
  })
})

describe('base64', () => {
  test('has one text for each byte string', () => {
    for (let length = 0; length < 20; length++) {
      const all = Uint8Array.from({ length }, (_, i) => (i * 37 + length) & 255)
      expect(fromBase64(toBase64(all))).toEqual(all)
      expect(toBase64(all)).toBe(Buffer.from(all).toString('base64'))
    }
    const wrong = ['A', 'AA', 'AAA', 'AB==', 'AAB=', 'AA==A', 'A-==', ' AA==', 'AA==\n', '====']
    expect(wrong.map(fromBase64)).toEqual(wrong.map(() => undefined))
  })

  test('of a node and a leaf is told apart by its first byte', () => {
    const one = new Uint8Array(32)
    expect(toHex(nodeHash(one, one))).not.toBe(toHex(leafHash(0, one)))
  })
})
