/** Hashes with Keccak-256 in a memory that callers lay messages out in. */
import { keccak_256 } from '@noble/hashes/sha3.js'

/** Memory of 64 KiB, all zero at first, whose messages Keccak-256 hashes in place. */
export type KeccakMemory = {
  bytes: Uint8Array<ArrayBuffer>
  /** Hashes `length` bytes at `at` to 32 bytes at `out`; may pad the 136 bytes behind them. */
  hash(at: number, length: number, out: number): void
}

export const keccakMemoryBytes = 65_536

/** How much of a message one step absorbs, and so how much padding can follow it, in bytes. */
export const blockBytes = 136

export function portableMemory(): KeccakMemory {
  const bytes = new Uint8Array(keccakMemoryBytes)
  const hash: KeccakMemory['hash'] = (at, length, out) =>
    bytes.set(keccak_256(bytes.subarray(at, at + length)), out)
  return { bytes, hash }
}

let makeMemory = portableMemory
let memory: KeccakMemory | undefined

/** The factory of Keccak memories that this process uses. */
export const keccakMemory = (): (() => KeccakMemory) => makeMemory

/** Replaces the portable implementation, the only one that a page's CSP allows, by a faster one. */
export function useKeccak(faster: () => KeccakMemory): void {
  makeMemory = faster
  memory = undefined
}

/** Keccak-256 (the padding before SHA-3's), 32 new bytes. */
export function keccak256(message: Uint8Array): Uint8Array {
  if (message.length > longest) return keccak_256(message)
  memory ??= makeMemory()
  memory.bytes.set(message, 32)
  memory.hash(32, message.length, 0)
  return memory.bytes.slice(0, 32)
}

const longest = keccakMemoryBytes - 32 - blockBytes
