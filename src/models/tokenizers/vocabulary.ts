/** The tokens of an encoding, found by their bytes. */

/** The factor of the polynomial hash that tokens are found by. Any odd number does. */
export const hashFactor = 0x01000193

export type Vocabulary = {
  /** Bytes of the longest token. */
  longest: number
  /** The rank of the token that these bytes are; `hash` is theirs. */
  rankOf(hash: number, bytes: Uint8Array, from: number, to: number): number | undefined
}

/** Reads a file of tokens as OpenAI publishes them: a line is a token in base64 and its rank. */
export function readVocabulary(file: Uint8Array): Vocabulary {
  const lines = countLines(file)
  // Twice as many places as tokens, so that a search meets a free one soon.
  const size = 2 ** Math.ceil(Math.log2(lines * 2))
  /** The tokens one behind the other, where each begins and ends, and its rank by its hash. */
  const all = new Uint8Array(file.length)
  const starts = new Int32Array(lines + 1)
  const ranks = new Int32Array(lines)
  const hashes = new Int32Array(size)
  const tokens = new Int32Array(size).fill(-1)
  let end = 0
  let longest = 0
  let token = 0
  for (let at = 0; at < file.length; token++) {
    const space = file.indexOf(0x20, at)
    const next = file.indexOf(0x0a, at)
    const line = next === -1 ? file.length : next
    const start = end
    end += decode(file, at, space, all, start)
    starts[token + 1] = end
    ranks[token] = numberIn(file, space + 1, line)
    longest = Math.max(longest, end - start)
    const hash = hashOf(all, start, end)
    let place = placeOf(hash, size)
    while (tokens[place] !== -1) place = (place + 1) & (size - 1)
    tokens[place] = token
    hashes[place] = hash
    at = line + 1
  }
  const known = all.slice(0, end)
  const isToken = (token: number, bytes: Uint8Array, from: number, to: number): boolean => {
    const start = starts[token] ?? 0
    if ((starts[token + 1] ?? 0) - start !== to - from) return false
    for (let at = from; at < to; at++) {
      if (bytes[at] !== known[start + at - from]) return false
    }
    return true
  }
  return {
    longest,
    rankOf(hash, bytes, from, to) {
      for (let place = placeOf(hash, size); ; place = (place + 1) & (size - 1)) {
        const token = tokens[place] ?? -1
        if (token === -1) return undefined
        if (hashes[place] === hash && isToken(token, bytes, from, to)) return ranks[token]
      }
    },
  }
}

/** The low bits of such a hash are those of the last bytes: they are mixed with the high ones. */
const placeOf = (hash: number, size: number): number =>
  (Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d) >>> 7) & (size - 1)

function hashOf(bytes: Uint8Array, from: number, to: number): number {
  let hash = 0
  for (let at = from; at < to; at++) hash = Math.imul(hash, hashFactor) + (bytes[at] ?? 0) + 1
  return hash | 0
}

function countLines(file: Uint8Array): number {
  let lines = 0
  for (let at = 0; at < file.length; at++) if (file[at] === 0x0a) lines += 1
  return file.at(-1) === 0x0a ? lines : lines + 1
}

const sextets = new Uint8Array(128)
for (const [value, letter] of [
  ...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/',
].entries()) {
  sextets[letter.charCodeAt(0)] = value
}

/** Decodes base64 to a place in `into`; returns how many bytes it has. */
function decode(file: Uint8Array, from: number, to: number, into: Uint8Array, at: number): number {
  let bits = 0
  let held = 0
  let written = 0
  for (let index = from; index < to && file[index] !== 0x3d; index++) {
    bits = ((bits << 6) | (sextets[file[index] ?? 0] ?? 0)) & 0xffff
    held += 6
    if (held < 8) continue
    held -= 8
    into[at + written] = bits >> held
    written += 1
  }
  return written
}

function numberIn(file: Uint8Array, from: number, to: number): number {
  let value = 0
  for (let at = from; at < to; at++) value = value * 10 + (file[at] ?? 0x30) - 0x30
  return value
}
