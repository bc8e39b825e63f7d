import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { keccak_256 } from '@noble/hashes/sha3.js'
import fc from 'fast-check'
import { toHex } from '../../src/kernel/hex.ts'
import { keccakModule } from '../../src/verify/fast/keccak-code.ts'
import { useWasmKeccak, wasmMemory } from '../../src/verify/fast/keccak-wasm.ts'
import { keccak256, keccakMemoryBytes, portableMemory, useKeccak } from '../../src/verify/keccak.ts'

const hashOf = (message: Uint8Array) => toHex(keccak_256(message))

describe('Keccak-256 in WebAssembly', () => {
  beforeAll(useWasmKeccak)
  afterAll(() => useKeccak(portableMemory))

  test('gives the known answers for no bytes and for "abc"', () => {
    expect(toHex(keccak256(new Uint8Array(0)))).toBe(
      '0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470',
    )
    expect(toHex(keccak256(new TextEncoder().encode('abc')))).toBe(
      '0x4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45',
    )
  })

  test('gives the bytes of the library for every length up to 600', () => {
    for (let length = 0; length <= 600; length++) {
      const [message] = fc.sample(fc.uint8Array({ minLength: length, maxLength: length }), 1)
      if (!message) throw new Error('no sample')
      expect(toHex(keccak256(message))).toBe(hashOf(message))
    }
  })

  test('gives the bytes of the library at the edge of its memory and beyond', () => {
    for (const length of [65_279, 65_280, 65_367, 65_368, 65_369, 65_504, 65_536, 200_000]) {
      const message = new Uint8Array(length).map((_, i) => i * 31)
      expect(toHex(keccak256(message))).toBe(hashOf(message))
    }
  })

  test('A hash does not depend on the message before it and has bytes of its own.', () => {
    const first = keccak256(new Uint8Array(300).fill(255))
    const kept = toHex(first)
    expect(toHex(keccak256(new Uint8Array(3)))).toBe(hashOf(new Uint8Array(3)))
    expect(toHex(first)).toBe(kept)
    expect(kept).toBe(hashOf(new Uint8Array(300).fill(255)))
  })

  test('is made of the same bytes at every build', () => {
    expect(toHex(keccakModule())).toBe(toHex(keccakModule()))
  })
})

describe.each([
  ['WebAssembly', wasmMemory],
  ['the library', portableMemory],
])('a memory of %s', (_, make) => {
  test('begins with zeros and hashes a message in place, wherever it lies', () => {
    const { bytes, hash } = make()
    expect(bytes).toEqual(new Uint8Array(keccakMemoryBytes))
    for (const length of [0, 1, 135, 136, 137, 271, 272, 1000]) {
      const message = Uint8Array.from({ length }, (_, i) => i * 37 + length)
      bytes.set(message, 64)
      hash(64, length, 8)
      expect(toHex(bytes.slice(8, 40))).toBe(hashOf(message))
      expect(bytes.slice(40, 64)).toEqual(new Uint8Array(24))
      expect(bytes.slice(64, 64 + length)).toEqual(message)
      expect(bytes.slice(64 + length + 136).every((byte) => byte === 0)).toBe(true)
      bytes.fill(0)
    }
  })

  test('shares no byte with another one', () => {
    const [one, other] = [make(), make()]
    one.bytes.fill(7, 136, 236)
    one.hash(136, 100, 0)
    expect(other.bytes.every((byte) => byte === 0)).toBe(true)
    expect(toHex(one.bytes.slice(0, 32))).toBe(hashOf(new Uint8Array(100).fill(7)))
  })
})
