import { encodeType, type StructName, structs } from './eip712.ts'
import { keccak256 } from './keccak.ts'
import { blockBytes } from './keccak-code.ts'
import { blocksOf, makeKeccakMemory, pad, roomFrom } from './keccak-wasm.ts'

/** Where one struct lies in the memory, from its type hash on; offsets count bytes. */
export type Place = {
  /** Where the 32 bytes of the nth member begin, from 0. */
  member(n: number): number
  /** Writes `hashStruct` to `out`. */
  hash(out: number): void
}

export type StructMemory = {
  bytes: Uint8Array<ArrayBuffer>
  place(name: StructName): Place
  /** Room for a message of at most so many bytes, not padded yet. */
  reserve(length: number): number
  /** Hashes the padded message of `length` bytes at `at`. */
  hash(at: number, length: number, out: number): void
  /** Writes the hash of a text that comes again. @throws on a lone surrogate. */
  text(text: string, at: number): void
  /** As `text`, for a text that does not come again. */
  newText(text: string, at: number): void
  /** @throws RangeError on what is no uint64. */
  uint64(value: number | bigint, at: number): void
  /** @throws when they are not 32. */
  bytes32(value: Uint8Array, at: number): void
}

/**
 * Structs laid out once for ever in the memory of a keccak, type hash and padding in place, so that
 * a hash costs its permutations and little else.
 */
export function makeStructMemory(): StructMemory {
  const { bytes, hash: hashBlocks } = makeKeccakMemory()
  const view = new DataView(bytes.buffer)
  const words = new Int32Array(bytes.buffer)
  // The first 32 bytes are for a result.
  let free = 32
  const reserve = (length: number) => {
    const at = free
    free += blocksOf(length) * blockBytes
    if (free > textsAt) throw new Error('no room for this struct')
    return at
  }
  const hash = (at: number, length: number, out: number) => hashBlocks(at, blocksOf(length), out)
  const newText = textHasher(bytes, hash)
  const find = textTable(newText)
  return {
    bytes,
    reserve,
    hash,
    newText,
    place(name) {
      const length = 32 * (structs[name].length + 1)
      const at = reserve(length)
      bytes.set(keccak256(new TextEncoder().encode(encodeType(name))), at)
      pad(bytes, at, length)
      const blocks = blocksOf(length)
      return { member: (n) => at + 32 * (n + 1), hash: (out) => hashBlocks(at, blocks, out) }
    },
    text(text, at) {
      const from = find(text) >> 2
      const to = at >> 2
      for (let i = 0; i < 8; i++) words[to + i] = words[from + i] ?? 0
    },
    // The 24 bytes before stay as they are: zero.
    uint64(value, at) {
      if (typeof value === 'bigint') {
        if (BigInt.asUintN(64, value) !== value) throw new RangeError('not a uint64')
        view.setBigUint64(at + 24, value)
        return
      }
      if (!Number.isSafeInteger(value) || value < 0) throw new RangeError('not a whole number')
      view.setUint32(at + 24, Math.floor(value / 0x1_0000_0000))
      view.setUint32(at + 28, value >>> 0)
    },
    bytes32(value, at) {
      if (value.length !== 32) throw new TypeError('not 32 bytes')
      bytes.set(value, at)
    },
  }
}

// Structs lie before the hashes of known texts; what is after those is for the text at hand.
const textsAt = 8192
const mostTexts = 1024
const scratchAt = textsAt + 32 * (mostTexts + 1)

function textHasher(bytes: Uint8Array, hash: StructMemory['hash']): StructMemory['newText'] {
  const encoder = new TextEncoder()
  const scratch = bytes.subarray(scratchAt)
  const room = roomFrom(scratchAt)
  return (text, at) => {
    if (!text.isWellFormed()) throw new TypeError('text with a lone surrogate')
    // No UTF-16 unit takes more than three bytes of UTF-8.
    if (text.length * 3 > room) {
      bytes.set(keccak256(encoder.encode(text)), at)
      return
    }
    const { written } = encoder.encodeInto(text, scratch)
    pad(bytes, scratchAt, written)
    hash(scratchAt, written, at)
  }
}

/** Finds where the hash of a text lies; model names, outcomes, meters come again and again. */
function textTable(hash: StructMemory['newText']): (text: string) => number {
  const known = new Map<string, number>()
  return (text) => {
    const found = known.get(text)
    if (found !== undefined) return found
    const keep = text.length <= 128
    if (keep && known.size >= mostTexts) known.clear()
    // The place after the last is for the long ones, which are not kept.
    const at = textsAt + 32 * (keep ? known.size : mostTexts)
    hash(text, at)
    if (keep) known.set(text, at)
    return at
  }
}
