/** Merkle trees that add up amounts: what a service owes, an account a leaf. */
import { sha256 } from '@noble/hashes/sha2.js'
import { isEqualBytes } from './merkle.ts'

/** A subtree: its hash, and the sum of its amounts in nano-USD. */
export type SumNode = { hash: Uint8Array; sum: bigint }

/** Every amount and every sum is below: eight bytes hold it. */
export const sumsBelow = 1n << 64n

/** The most leaves of a tree are 2^32: a path has at most so many steps. */
export const mostLevels = 32

// The log has other first bytes: no hash of one tree can be shown as one of the other.
const [idPrefix, leafPrefix, nodePrefix] = [2, 3, 4]

/** The preimage of the blinded id of an account; without the nonce the id cannot be guessed. */
export function idBytes(nonce: Uint8Array, account: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(53)
  bytes[0] = idPrefix
  bytes.set(nonce, 1)
  bytes.set(account, 33)
  return bytes
}

/** The preimage of a leaf: a blinded id and the amount. @throws RangeError */
export function leafBytes(id: Uint8Array, amount: bigint): Uint8Array {
  const bytes = new Uint8Array(41)
  bytes[0] = leafPrefix
  bytes.set(id, 1)
  writeSum(bytes, 33, amount)
  return bytes
}

/**
 * The preimage of a node: both sums, each beside its hash. With only the sum of both, a
 * service could show each account a smaller one beside its own. @throws RangeError
 */
export function nodeBytes(left: SumNode, right: SumNode): Uint8Array {
  const bytes = new Uint8Array(81)
  bytes[0] = nodePrefix
  writeSum(bytes, 1, left.sum)
  bytes.set(left.hash, 9)
  writeSum(bytes, 41, right.sum)
  bytes.set(right.hash, 49)
  return bytes
}

function writeSum(bytes: Uint8Array, at: number, sum: bigint): void {
  if (sum < 0n || sum >= sumsBelow) throw new RangeError('not a sum of eight bytes')
  new DataView(bytes.buffer).setBigUint64(at, sum)
}

/** The leaf of an account. @throws RangeError */
export function sumLeaf(nonce: Uint8Array, account: Uint8Array, amount: bigint): SumNode {
  return { hash: sha256(leafBytes(sha256(idBytes(nonce, account)), amount)), sum: amount }
}

/** That a leaf stands at `index` of a tree of 2^`path.length` leaves with this root and total. */
export type SumClaim = {
  index: bigint
  leaf: SumNode
  /** The siblings from the leaf up. */
  path: readonly SumNode[]
  root: SumNode
}

/** Whether a path proves it. Every sum on it is bounded, so none can be negative or wrap. */
export function verifySum({ index, leaf, path, root }: SumClaim): boolean {
  if (index < 0n || path.length > mostLevels || index >> BigInt(path.length) !== 0n) return false
  let node = leaf
  let place = index
  for (const sibling of path) {
    const [left, right] = place & 1n ? [sibling, node] : [node, sibling]
    const sum = left.sum + right.sum
    if (![left, right].every(isNode) || sum >= sumsBelow) return false
    node = { hash: sha256(nodeBytes(left, right)), sum }
    place >>= 1n
  }
  return isNode(node) && node.sum === root.sum && isEqualBytes(node.hash, root.hash)
}

const isNode = ({ hash, sum }: SumNode): boolean =>
  hash.length === 32 && sum >= 0n && sum < sumsBelow
