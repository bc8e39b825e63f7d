/** The Merkle tree of the log (RFC 9162): appends leaves and names the hashes that proofs need. */
import { sha256 } from '../../kernel/hash.ts'
import type { LeafKind } from '../../verify/merkle.ts'

/** A perfect subtree of the log: 2^level leaves from idx × 2^level on. */
export type Place = { level: number; idx: number }

/**
 * The row of leaf `idx`: its own hash, then the hashes of all perfect subtrees that end with it,
 * each twice as large as the one before, 32 bytes each. Rows never change and are only appended;
 * one row per node would cost twice as much.
 */
export type StoredLeaf = {
  idx: number
  kind: LeafKind
  hashes: Uint8Array
  runId: string | null
}

/** A leaf to log: a kind and a digest of 32 bytes; for a receipt, the run it is of. */
export type Leaf = { kind: LeafKind; digest: Uint8Array; runId?: string }

/** The state an append needs: the number of leaves, and the peaks, largest first. */
export type Frontier = { size: number; peaks: readonly Uint8Array[] }

/** A stored leaf that is missing or contradicts its digest, its subtrees or a signed root. */
export class LeafDamage extends Error {
  constructor(
    /** Its index in its log. */
    readonly leaf: number,
    readonly how: string,
  ) {
    super(`the log's leaf ${leaf} is damaged: ${how}`)
  }
}

/** The hash of a stored subtree. @throws LeafDamage if it is missing. */
export type HashAt = (place: Place) => Uint8Array

/** Consecutive leaves `from` ≤ i < `to` that form a subtree of RFC 9162 §2.1.1. */
export type Range = { from: number; to: number }

export const emptyFrontier: Frontier = { size: 0, peaks: [] }

/** Adds leaves; about two SHA-256 each, independent of the size. */
export function append(
  frontier: Frontier,
  leaves: readonly Leaf[],
): { stored: StoredLeaf[]; frontier: Frontier } {
  const peaks = [...frontier.peaks]
  let { size } = frontier
  const stored = leaves.map(({ kind, digest, runId = null }) => {
    const hashes = grow(peaks, size, hashLeaf(kind, digest))
    return { idx: size++, kind, hashes, runId }
  })
  return { stored, frontier: { size, peaks } }
}

/**
 * Adds a leaf by its hash to the peaks of a tree of `size` leaves, in place. Returns the hashes to
 * store: its own and those of all subtrees it completed.
 */
export function grow(peaks: Uint8Array[], size: number, leaf: Uint8Array): Uint8Array {
  let hash = leaf
  const hashes = [hash]
  // An odd place is a right child: its parent is now perfect, and so on upwards.
  for (let idx = size; idx % 2 === 1; idx = (idx - 1) / 2) {
    const left = peaks.pop()
    if (!left) throw new Error(`the log of ${size} leaves lacks a peak`)
    hash = hashNode(left, hash)
    hashes.push(hash)
  }
  peaks.push(hash)
  return joined(hashes)
}

/** The leaf whose row stores the hash of a subtree: its last one. */
export const homeOf = ({ level, idx }: Place): number => (idx + 1) * 2 ** level - 1

/** The hash of a subtree in the row of its last leaf. @throws LeafDamage for a row too short. */
export function hashIn({ idx, hashes }: Pick<StoredLeaf, 'idx' | 'hashes'>, { level }: Place) {
  const hash = hashes.subarray(32 * level, 32 * level + 32)
  if (hash.length !== 32) throw new LeafDamage(idx, `it lacks its subtree ${level}`)
  return hash
}

/** The perfect subtrees of a range, largest first; at most log2 of its length. */
export function peaksOf({ from, to }: Range): Place[] {
  const places: Place[] = []
  for (let at = from; at < to; ) {
    const level = floorLog2(to - at)
    const width = 2 ** level
    places.push({ level, idx: at / width })
    at += width
  }
  return places
}

/** The hash of a range (RFC 9162 §2.1.1): its peaks, folded from the smallest. */
export const hashOf = (range: Range, hashAt: HashAt): Uint8Array => fold(peaksOf(range).map(hashAt))

/** The hash of a whole tree. */
export const rootOf = ({ peaks }: Frontier): Uint8Array => fold(peaks)

function fold(peaks: readonly Uint8Array[]): Uint8Array {
  const folded = peaks.reduceRight<Uint8Array | undefined>(
    (right, left) => (right ? hashNode(left, right) : left),
    undefined,
  )
  return folded ?? sha256(new Uint8Array())
}

/** The ranges whose hashes prove that leaf `index` is in the tree (RFC 9162 §2.1.3.1). */
export function inclusionRanges(index: number, size: number): Range[] {
  if (!(index >= 0 && index < size)) throw new RangeError('no such leaf in a tree of this size')
  const path: Range[] = []
  let [from, to] = [0, size]
  while (to - from > 1) {
    const middle = from + splitOf(to - from)
    if (index < middle) {
      path.push({ from: middle, to })
      to = middle
    } else {
      path.push({ from, to: middle })
      from = middle
    }
  }
  return path.reverse()
}

/** The ranges whose hashes prove that one tree begins with another (RFC 9162 §2.1.4.1). */
export function consistencyRanges(first: number, second: number): Range[] {
  if (!(first > 0 && first <= second)) throw new RangeError('no such pair of trees')
  const path: Range[] = []
  let [from, to] = [0, second]
  while (to !== first) {
    const middle = from + splitOf(to - from)
    if (first <= middle) {
      path.push({ from: middle, to })
      to = middle
    } else {
      path.push({ from, to: middle })
      from = middle
    }
  }
  // The verifier knows the hash of the whole first tree, but not of a part of it.
  if (from > 0) path.push({ from, to })
  return path.reverse()
}

/** The largest power of two below `count`. */
function splitOf(count: number): number {
  return 2 ** floorLog2(count - 1)
}

/** Exact up to 2^53, which Math.log2 is not. */
const floorLog2 = (count: number): number =>
  count < 2 ** 32 ? 31 - Math.clz32(count) : 63 - Math.clz32(count / 2 ** 32)

function joined(hashes: readonly Uint8Array[]): Uint8Array {
  const [only] = hashes
  if (only && hashes.length === 1) return only
  const out = new Uint8Array(32 * hashes.length)
  for (const [i, hash] of hashes.entries()) out.set(hash, 32 * i)
  return out
}

/** Like `verify/merkle.ts`, with the server's faster hash; a test compares both. */
export function hashLeaf(kind: LeafKind, digest: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(2 + digest.length)
  bytes[1] = kind
  bytes.set(digest, 2)
  return sha256(bytes)
}

export function hashNode(left: Uint8Array, right: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(65)
  bytes[0] = 1
  bytes.set(left, 1)
  bytes.set(right, 33)
  return sha256(bytes)
}
