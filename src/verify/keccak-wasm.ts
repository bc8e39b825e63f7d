import { keccak_256 } from '@noble/hashes/sha3.js'
import { embedKeccak } from './keccak.macro.ts' with { type: 'macro' }
import { useKeccak } from './keccak.ts'
import { blockBytes, keccakMemoryBytes } from './keccak-code.ts'

/** A keccak that reads and writes one memory of its own, so that nothing need be copied. */
export type KeccakMemory = {
  bytes: Uint8Array<ArrayBuffer>
  /** Hashes `blocks` padded blocks at `at` and writes 32 bytes to `out`; both count bytes. */
  hash(at: number, blocks: number, out: number): void
}

/** Makes every keccak of this process run in WebAssembly; once, at start, on servers only. */
export function useWasmKeccak(): void {
  const { bytes, hash } = makeKeccakMemory()
  const room = roomFrom(32)
  useKeccak((message) => {
    if (message.length > room) return keccak_256(message)
    const blocks = blocksOf(message.length)
    bytes.set(message, 32)
    pad(bytes, 32, message.length)
    hash(32, blocks, 0)
    return bytes.slice(0, 32)
  })
}

const code: string = embedKeccak()
let compiled: WebAssembly.Module | undefined

/** A keccak with 64 KiB of memory, all zero. */
export function makeKeccakMemory(): KeccakMemory {
  compiled ??= new WebAssembly.Module(Buffer.from(code, 'base64'))
  const { memory, hash } = new WebAssembly.Instance(compiled).exports
  if (!(memory instanceof WebAssembly.Memory) || typeof hash !== 'function') {
    throw new Error('the keccak module exports something else')
  }
  return { bytes: new Uint8Array(memory.buffer), hash: hash as KeccakMemory['hash'] }
}

/** How many blocks a message of so many bytes takes with its padding. */
export const blocksOf = (length: number): number => Math.floor(length / blockBytes) + 1

/** Ends the message of `length` bytes at `at` as Keccak does, up to the end of its last block. */
export function pad(bytes: Uint8Array, at: number, length: number): void {
  const end = at + blocksOf(length) * blockBytes
  bytes.fill(0, at + length, end)
  bytes[at + length] = 0x01
  bytes[end - 1] = (bytes[end - 1] ?? 0) | 0x80
}

/** The longest message that a memory holds from `at` on, in bytes. */
export const roomFrom = (at: number): number =>
  Math.floor((keccakMemoryBytes - at) / blockBytes) * blockBytes - 1
