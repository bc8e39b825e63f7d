/** The vectors of the built-in embedding model. */

export const embeddingDimensions = 256

/** Places a word writes to: with four, two words hardly ever fall on one another entirely. */
const placesPerWord = 4

/**
 * A hashed bag of words as a vector of unit length: the same words give the same direction, and
 * the more words two texts share, the larger their cosine. Only exact operations of IEEE 754
 * (sum, product, quotient, square root), so every machine gets the same bits.
 */
export function embed(text: string): Float32Array<ArrayBuffer> {
  const sums = new Float64Array(embeddingDimensions)
  for (const [word, times] of bagOf(text)) add(sums, word, Math.sqrt(times))
  // Words that cancel out to nothing have no direction: the text as a whole has one.
  if (lengthOf(sums) === 0) add(sums, text, 1)
  const length = lengthOf(sums)
  return Float32Array.from(sums, (sum) => sum / length)
}

function bagOf(text: string): Map<string, number> {
  const bag = new Map<string, number>()
  for (const word of text
    .normalize('NFC')
    .toLowerCase()
    .match(/[\p{L}\p{M}\p{N}]+/gu) ?? []) {
    bag.set(word, (bag.get(word) ?? 0) + 1)
  }
  return bag
}

function add(sums: Float64Array, word: string, weight: number): void {
  for (let seed = 0; seed < placesPerWord; seed++) {
    const hash = hashOf(word, seed)
    const place = hash & (embeddingDimensions - 1)
    sums[place] = (sums[place] ?? 0) + (hash & 0x1_0000 ? weight : -weight)
  }
}

function lengthOf(vector: Float64Array): number {
  let squares = 0
  for (const value of vector) squares += value * value
  return Math.sqrt(squares)
}

/** FNV-1a over UTF-16 units with murmur3's last mixing, as an unsigned 32-bit integer. */
function hashOf(word: string, seed: number): number {
  let hash = (0x811c9dc5 ^ seed) >>> 0
  for (let i = 0; i < word.length; i++) hash = Math.imul(hash ^ word.charCodeAt(i), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
