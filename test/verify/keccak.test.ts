import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { keccak_256 } from '@noble/hashes/sha3.js'
import fc from 'fast-check'
import { toHex } from '../../src/kernel/hex.ts'
import { keccak256, useKeccak } from '../../src/verify/keccak.ts'
import { keccakMemoryBytes, keccakModule } from '../../src/verify/keccak-code.ts'
import {
  type KeccakMemory,
  makeKeccakMemory,
  pad,
  useWasmKeccak,
} from '../../src/verify/keccak-wasm.ts'

setDefaultTimeout(60_000)

afterAll(() => useKeccak(keccak_256))

describe('the keccak in WebAssembly', () => {
  test('gives the portable one’s bytes for every length up to 600', () => {
    useWasmKeccak()
    for (let length = 0; length <= 600; length++) {
      const [message] = fc.sample(fc.uint8Array({ minLength: length, maxLength: length }), 1)
      if (!message) throw new Error('no sample')
      expect(toHex(keccak256(message))).toBe(toHex(keccak_256(message)))
    }
  })

  test('gives them at the edge of its memory and beyond', () => {
    useWasmKeccak()
    for (const length of [65_279, 65_280, 65_415, 65_416, 65_504, 65_536, 70_000, 200_000]) {
      const message = new Uint8Array(length).map((_, i) => i * 31)
      expect(toHex(keccak256(message))).toBe(toHex(keccak_256(message)))
    }
  })

  test('keeps nothing of the message before, and gives bytes of its own', () => {
    useWasmKeccak()
    const first = keccak256(new Uint8Array(300).fill(255))
    const kept = toHex(first)
    expect(toHex(keccak256(new Uint8Array(3)))).toBe(toHex(keccak_256(new Uint8Array(3))))
    expect(toHex(first)).toBe(kept)
    expect(kept).toBe(toHex(keccak_256(new Uint8Array(300).fill(255))))
  })

  test('is made of the same bytes each time, which hash by themselves', () => {
    expect(toHex(keccakModule())).toBe(toHex(keccakModule()))
    const module = new WebAssembly.Module(keccakModule())
    const { memory, hash } = new WebAssembly.Instance(module).exports
    if (!(memory instanceof WebAssembly.Memory)) throw new Error('no memory')
    const bytes = new Uint8Array(memory.buffer)
    expect(bytes.length).toBe(keccakMemoryBytes)
    for (const length of [0, 1, 135, 136, 137, 271, 272, 1000]) {
      const message = Uint8Array.from({ length }, (_, i) => i * 37 + length)
      bytes.set(message, 64)
      pad(bytes, 64, length)
      ;(hash as KeccakMemory['hash'])(64, Math.floor(length / 136) + 1, 8)
      expect(toHex(bytes.slice(8, 40))).toBe(toHex(keccak_256(message)))
      expect(bytes.slice(40, 64)).toEqual(new Uint8Array(24))
    }
  })

  test('two memories know nothing of each other', () => {
    const [one, other] = [makeKeccakMemory(), makeKeccakMemory()]
    one.bytes.fill(7, 136, 236)
    pad(one.bytes, 136, 100)
    one.hash(136, 1, 0)
    expect(other.bytes.every((byte) => byte === 0)).toBe(true)
    expect(toHex(one.bytes.slice(0, 32))).toBe(toHex(keccak_256(new Uint8Array(100).fill(7))))
  })
})
