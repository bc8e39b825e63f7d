import { sha256 } from '../kernel/hash.ts'
import type { LeafKind } from '../verify/merkle.ts'

/** A perfect subtree of the log: the 2^level leaves from idx × 2^level on. */
export type Place = { level: number; idx: number }

/** A stored subtree. Its hash never changes once its last leaf is there. `kind` is a leaf's. */
export type TreeNode = Place & { hash: Uint8Array; kind: LeafKind | null }

/** What is to be logged: 32 bytes and what they are about. */
export type Leaf = { kind: LeafKind; digest: Uint8Array }

/** All that an append needs to know of a tree: how many leaves, and its peaks, largest first. */
export type Frontier = { size: number; peaks: readonly Uint8Array[] }

/** The hash of a stored subtree. @throws when it is not there. */
export type HashAt = (place: Place) => Uint8Array

/** Consecutive leaves `from` ≤ i < `to` that make a subtree of RFC 9162 §2.1.1. */
export type Range = { from: number; to: number }

export const emptyFrontier: Frontier = { size: 0, peaks: [] }

/** Adds leaves: about two SHA-256 and two new nodes each, whatever the size. */
export function append(
  frontier: Frontier,
  leaves: readonly Leaf[],
): { nodes: TreeNode[]; frontier: Frontier } {
  const nodes: TreeNode[] = []
  const peaks = [...frontier.peaks]
  let { size } = frontier
  for (const { kind, digest } of leaves) {
    let hash = hashLeaf(kind, digest)
    let idx = size
    nodes.push({ level: 0, idx, hash, kind })
    // An odd place is a right child: its parent is perfect now, and so on upwards.
    for (let level = 1; idx % 2 === 1; level++) {
      const left = peaks.pop()
      if (!left) throw new Error(`the log of ${size} leaves lacks a peak`)
      hash = hashNode(left, hash)
      idx = (idx - 1) / 2
      nodes.push({ level, idx, hash, kind: null })
    }
    peaks.push(hash)
    size++
  }
  return { nodes, frontier: { size, peaks } }
}

/** The perfect subtrees a range consists of, largest first: log2 of its length at most. */
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
export function hashOf(range: Range, hashAt: HashAt): Uint8Array {
  const folded = peaksOf(range)
    .map(hashAt)
    .reduceRight<Uint8Array | undefined>(
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
  // The first tree itself is known to whoever checks; a part of it is not.
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

/** As `verify/merkle.ts` has them, with the server's faster hash; a test keeps them equal. */
function hashLeaf(kind: LeafKind, digest: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(2 + digest.length)
  bytes[1] = kind
  bytes.set(digest, 2)
  return sha256(bytes)
}

function hashNode(left: Uint8Array, right: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(65)
  bytes[0] = 1
  bytes.set(left, 1)
  bytes.set(right, 33)
  return sha256(bytes)
}
