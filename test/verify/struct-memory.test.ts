import { describe, expect, test } from 'bun:test'
import { toHex } from '../../src/kernel/hex.ts'
import { keccak256 } from '../../src/verify/keccak.ts'
import { makeStructMemory } from '../../src/verify/struct-memory.ts'

const hashOf = (text: string) => toHex(keccak256(new TextEncoder().encode(text)))

/** A memory, and what it writes at a place of its own. */
function memoryWithSlot() {
  const memory = makeStructMemory()
  const at = memory.reserve(32)
  const read = () => toHex(memory.bytes.slice(at, at + 32))
  return { memory, at, read }
}

describe('the hash of a text', () => {
  test('is its own, also after more texts than are remembered, and long ones between them', () => {
    const { memory, at, read } = memoryWithSlot()
    const ask = (text: string) => {
      memory.text(text, at)
      return read()
    }
    const long = 'x'.repeat(129)
    for (let i = 0; i < 1030; i++) {
      const text = `text ${i}`
      const hash = ask(text)
      if (i < 1020 && i % 100 > 0) continue
      expect(hash).toBe(hashOf(text))
      expect(ask(long)).toBe(hashOf(long))
      expect(ask(text)).toBe(hash)
      expect(ask('text 0')).toBe(hashOf('text 0'))
    }
  })

  test.each([0, 1, 135, 136, 7_000, 7_900, 8_300, 20_000, 23_000, 30_000, 70_000])(
    'of %p units of three bytes is its own, also where it does not fit',
    (length) => {
      const { memory, at, read } = memoryWithSlot()
      const text = '€'.repeat(length)
      memory.newText(text, at)
      expect(read()).toBe(hashOf(text))
      // Nothing of it remains in what comes next.
      memory.newText('a', at)
      expect(read()).toBe(hashOf('a'))
    },
  )

  test('is none for a lone surrogate', () => {
    const { memory, at } = memoryWithSlot()
    expect(() => memory.text('\ud800', at)).toThrow(TypeError)
    expect(() => memory.newText('\ud800', at)).toThrow(TypeError)
  })
})

describe('an integer', () => {
  test.each([0, 1, 255, 2 ** 32 - 1, 2 ** 32, 2 ** 53 - 1, 0n, 2n ** 53n, 2n ** 64n - 1n])(
    'of %p is written as 32 bytes',
    (value) => {
      const { memory, at, read } = memoryWithSlot()
      memory.uint64(2n ** 64n - 1n, at)
      memory.uint64(value, at)
      expect(BigInt(read())).toBe(BigInt(value))
    },
  )

  test.each([-1, 0.5, 2 ** 53, Number.NaN, -1n, 2n ** 64n])('of %p is refused', (value) => {
    const { memory, at } = memoryWithSlot()
    expect(() => memory.uint64(value, at)).toThrow(RangeError)
  })
})

test('32 bytes are written as they are, and others are refused', () => {
  const { memory, at, read } = memoryWithSlot()
  const bytes = Uint8Array.from({ length: 32 }, (_, i) => i)
  memory.bytes32(bytes, at)
  expect(read()).toBe(toHex(bytes))
  for (const length of [0, 31, 33]) {
    expect(() => memory.bytes32(new Uint8Array(length), at)).toThrow(TypeError)
  }
})

test('places do not overlap, and what has no place any more is refused', () => {
  const { memory } = memoryWithSlot()
  const taken: [from: number, to: number][] = [[0, 32]]
  const fill = () => {
    for (let length = 0; ; length += 45) {
      const at = memory.reserve(length)
      // With its padding, of which there is always at least one byte.
      taken.push([at, at + length + 1])
    }
  }
  expect(fill).toThrow('no room')
  expect(taken.length).toBeGreaterThan(10)
  for (const [i, [from]] of taken.entries()) {
    expect(from).toBeGreaterThanOrEqual(taken[i - 1]?.[1] ?? 0)
  }
})
