import { type Hex, toHex } from '../../src/kernel/hex.ts'

/**
 * A second opinion on the log's tree, as RFC 9162 defines it and not as anyone would build it:
 * MTH, PATH and PROOF of section 2.1, each by its recursion.
 */
export type ReferenceTree = {
  /** `size` defaults to all leaves. */
  root(size?: number): Hex
  leaf(index: number): Hex
  /** PATH, section 2.1.3.1. */
  inclusion(index: number, size?: number): Hex[]
  /** PROOF, section 2.1.4.1, from 0 < `first` <= `second`. */
  consistency(first: number, second?: number): Hex[]
}

/** The tree over entries that are hashed to leaves here: SHA-256(0x00 || entry). */
export function referenceTree(entries: readonly Uint8Array[]): ReferenceTree {
  const known = new Map<string, Uint8Array>()
  const mth = (from: number, to: number): Uint8Array => {
    const name = `${from}-${to}`
    const before = known.get(name)
    if (before) return before
    const middle = from + splitOf(to - from)
    const made =
      to - from === 1
        ? sha256([0], entries[from] ?? new Uint8Array())
        : sha256([1], mth(from, middle), mth(middle, to))
    known.set(name, made)
    return made
  }
  const path = (m: number, from: number, to: number): Uint8Array[] => {
    if (to - from === 1) return []
    const middle = from + splitOf(to - from)
    return m < middle
      ? [...path(m, from, middle), mth(middle, to)]
      : [...path(m, middle, to), mth(from, middle)]
  }
  /** SUBPROOF; `whole` is its b: the part up to m is the old tree itself, whose root is known. */
  const subproof = (m: number, from: number, to: number, whole: boolean): Uint8Array[] => {
    if (m === to) return whole ? [] : [mth(from, to)]
    const middle = from + splitOf(to - from)
    return m <= middle
      ? [...subproof(m, from, middle, whole), mth(middle, to)]
      : [...subproof(m, middle, to, false), mth(from, middle)]
  }
  return {
    root: (size = entries.length) => toHex(mth(0, size)),
    leaf: (index) => toHex(mth(index, index + 1)),
    inclusion: (index, size = entries.length) => path(index, 0, size).map(toHex),
    consistency: (first, second = entries.length) => subproof(first, 0, second, true).map(toHex),
  }
}

/** A log entry as it is hashed: its kind, then its digest. */
export const entryOf = (kind: number, digest: Uint8Array): Uint8Array =>
  Uint8Array.of(kind, ...digest)

/** Entries of receipts that are not one's, each different. */
export const someEntries = (count: number): Uint8Array[] =>
  Array.from({ length: count }, (_, i) => entryOf(0, sha256([7], new TextEncoder().encode(`${i}`))))

/** The largest power of two below n. */
const splitOf = (n: number): number => 2 ** Math.floor(Math.log2(n - 1))

function sha256(prefix: number[], ...parts: Uint8Array[]): Uint8Array {
  const hasher = new Bun.CryptoHasher('sha256').update(Uint8Array.from(prefix))
  for (const part of parts) hasher.update(part)
  return new Uint8Array(hasher.digest())
}
