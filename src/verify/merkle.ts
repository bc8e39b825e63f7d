/** Merkle trees of the log (RFC 9162). */
import { sha256 } from '@noble/hashes/sha2.js'

/** The kind of leaf that is a receipt: by itself, because a browser needs no other. */
export const receiptKind = 0

/** The kinds of leaves of the log. A leaf is hashed with this byte before its digest. */
export const leafKinds = {
  receipt: receiptKind,
  priceList: 1,
  signerRotation: 2,
  passportStatement: 3,
  reopening: 4,
  liabilities: 5,
  upstreamEvidence: 6,
} as const

export type LeafKind = (typeof leafKinds)[keyof typeof leafKinds]

/** SHA-256(0x00 || kind || digest): RFC 9162 §2.1.1 over the kind and the digest. */
export const leafHash = (kind: LeafKind, digest: Uint8Array): Uint8Array =>
  sha256
    .create()
    .update(new Uint8Array([0, kind]))
    .update(digest)
    .digest()

/** SHA-256(0x01 || left || right): RFC 9162 §2.1.1. */
export const nodeHash = (left: Uint8Array, right: Uint8Array): Uint8Array =>
  sha256.create().update(nodePrefix).update(left).update(right).digest()

const nodePrefix = new Uint8Array([1])

/** That a leaf hash stands at `index` of the tree with this root. */
export type InclusionClaim = {
  index: bigint
  size: bigint
  leaf: Uint8Array
  path: readonly Uint8Array[]
  root: Uint8Array
}

/** Whether a path proves it (RFC 9162 §2.1.3.2). Never throws. */
export function verifyInclusion({ index, size, leaf, path, root }: InclusionClaim): boolean {
  if (index < 0n || index >= size || ![leaf, ...path].every(isHash)) return false
  let fn = index
  let sn = size - 1n
  let hash = leaf
  for (const sibling of path) {
    if (sn === 0n) return false
    if (isOdd(fn) || fn === sn) {
      hash = nodeHash(sibling, hash)
      while (!isOdd(fn) && fn !== 0n) {
        fn >>= 1n
        sn >>= 1n
      }
    } else hash = nodeHash(hash, sibling)
    fn >>= 1n
    sn >>= 1n
  }
  return sn === 0n && isEqualBytes(hash, root)
}

/** That the tree of `to` leaves begins with all those of the tree of `from` leaves. */
export type ConsistencyClaim = {
  from: bigint
  to: bigint
  fromRoot: Uint8Array
  toRoot: Uint8Array
  path: readonly Uint8Array[]
}

/**
 * Whether a path proves it (RFC 9162 §2.1.4.2). An empty tree is refused: every tree begins with
 * it, and no path says so. Never throws.
 */
export function verifyConsistency(claim: ConsistencyClaim): boolean {
  const { from, to, fromRoot, toRoot, path } = claim
  if (from <= 0n || to < from) return false
  if (from === to) return path.length === 0 && isEqualBytes(fromRoot, toRoot)
  if (path.length === 0 || ![fromRoot, toRoot, ...path].every(isHash)) return false
  // A perfect first tree is itself a node of the second, so the path does not repeat it.
  const [start, ...rest] = isPowerOfTwo(from) ? [fromRoot, ...path] : path
  if (!start) return false
  let fn = from - 1n
  let sn = to - 1n
  while (isOdd(fn)) {
    fn >>= 1n
    sn >>= 1n
  }
  let first = start
  let second = start
  for (const hash of rest) {
    if (sn === 0n) return false
    if (isOdd(fn) || fn === sn) {
      first = nodeHash(hash, first)
      second = nodeHash(hash, second)
      while (!isOdd(fn) && fn !== 0n) {
        fn >>= 1n
        sn >>= 1n
      }
    } else second = nodeHash(second, hash)
    fn >>= 1n
    sn >>= 1n
  }
  return sn === 0n && isEqualBytes(first, fromRoot) && isEqualBytes(second, toRoot)
}

const isOdd = (n: bigint): boolean => (n & 1n) === 1n
const isPowerOfTwo = (n: bigint): boolean => (n & (n - 1n)) === 0n
const isHash = ({ length }: Uint8Array): boolean => length === 32

/** Nothing here is secret: no constant time. */
export const isEqualBytes = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && a.every((byte, i) => byte === b[i])
