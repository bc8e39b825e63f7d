/**
 * Counts tokens by byte pair encoding: a text is split into pieces, and pairs of bytes of a piece
 * are merged, the pair of the lowest rank first. Text is never read as a special token. Bytes are
 * found by their hash, not as strings: a long text is counted in milliseconds.
 */
import type { Tokenizer } from './tokenizer.ts'
import { hashFactor, type Vocabulary } from './vocabulary.ts'

/** Bytes of a piece that is merged, which takes the square of them; longer ones count by bytes. */
const longestPiece = 1024

/** The squares of all pieces that are merged, some milliseconds; more count by bytes. */
const squaresAtMost = 8 * 1024 * 1024

/** Hashes whose memory is used again for the next text. */
const keptHashes = 64 * 1024

const nothing = new Uint8Array()

/** A position without a pair, or with one that is not a token. */
const none = 0x7fffffff

export function makeTokenizer(vocabulary: Vocabulary, pieces: RegExp): Tokenizer {
  const find = finder(vocabulary)
  const merge = merger(find)
  return {
    count(text, work = { squares: 0 }) {
      const bytes = Buffer.from(text)
      const isAscii = bytes.length === text.length
      find.read(bytes)
      let tokens = 0
      let at = 0
      for (const piece of text.match(pieces) ?? []) {
        const length = isAscii ? piece.length : Buffer.byteLength(piece)
        const end = at + length
        if (find.rankOf(at, end) !== none) tokens += 1
        else {
          work.squares += length * length
          const isTooMuch = length > longestPiece || work.squares > squaresAtMost
          tokens += isTooMuch ? length : merge(at, end)
        }
        at = end
      }
      // Texts of callers are not kept.
      find.read(nothing)
      // The patterns leave nothing out; bytes that one would leave out count as they are.
      return tokens + bytes.length - at
    },
  }
}

/** Finds tokens in a text after it was read. */
type Finder = {
  read(bytes: Uint8Array): void
  /** The rank of the token that bytes of the text are, or none. */
  rankOf(from: number, to: number): number
}

function finder({ longest, rankOf }: Vocabulary): Finder {
  const powers = new Int32Array(longest + 1).fill(1)
  for (let at = 1; at <= longest; at++) powers[at] = Math.imul(powers[at - 1] ?? 0, hashFactor)
  let bytes: Uint8Array = nothing
  // Hashes of all beginnings of the text: that of a part follows from two of them.
  let hashes = new Int32Array(1)
  return {
    read(next) {
      bytes = next
      if (hashes.length <= next.length || hashes.length > keptHashes) {
        hashes = new Int32Array(Math.max(1024, next.length + 1))
      }
      for (let at = 0; at < next.length; at++) {
        hashes[at + 1] = Math.imul(hashes[at] ?? 0, hashFactor) + (next[at] ?? 0) + 1
      }
    },
    rankOf(from, to) {
      if (to - from > longest) return none
      const before = Math.imul(hashes[from] ?? 0, powers[to - from] ?? 0)
      return rankOf(((hashes[to] ?? 0) - before) | 0, bytes, from, to) ?? none
    },
  }
}

/** Merges the bytes of a piece; returns how many tokens remain. */
function merger(find: Finder): (from: number, to: number) => number {
  const starts = new Int32Array(longestPiece + 2)
  const pairs = new Int32Array(longestPiece + 2)
  return (from, to) => {
    let parts = to - from
    const rankAt = (at: number): number =>
      at + 2 > parts ? none : find.rankOf(starts[at] ?? 0, starts[at + 2] ?? 0)
    for (let at = 0; at <= parts; at++) starts[at] = from + at
    for (let at = 0; at < parts; at++) pairs[at] = rankAt(at)
    for (;;) {
      let lowest = none
      let found = -1
      for (let at = 0; at < parts - 1; at++) {
        const rank = pairs[at] ?? none
        if (rank >= lowest) continue
        lowest = rank
        found = at
      }
      if (found === -1) return parts
      parts -= 1
      for (let at = found + 1; at <= parts; at++) {
        starts[at] = starts[at + 1] ?? 0
        pairs[at] = pairs[at + 1] ?? none
      }
      pairs[found] = rankAt(found)
      if (found > 0) pairs[found - 1] = rankAt(found - 1)
    }
  }
}
