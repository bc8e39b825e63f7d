/** The leaves of liabilities: who is behind one, and how a part of them is stored. */
import { hmacSha256, sha256 } from '../../kernel/hash.ts'
import { fromHex } from '../../kernel/hex.ts'
import { idBytes, leafBytes, nodeBytes, type SumNode } from '../../verify/sum-tree.ts'

/** A leaf: a blinded id, a balance, and how many transfers of the account the balance follows. */
export type LiabilityLeaf = { id: Uint8Array; amount: bigint; moves: number }

/** Leaves of a part, and so the fewest of a tree. */
export const partLeaves = 256

/** Bytes of a stored leaf: its id, amount and moves. */
export const leafWidth = 48

/** The secret that hides an account in one statement; its owner gets it. */
export const nonceOf = (seed: Uint8Array, account: string): Uint8Array =>
  hmacSha256(seed, `nonce/v1/${account}`)

/** The blinded id of an account: by it the leaves are in an order that tells nothing. */
export const idOf = (seed: Uint8Array, account: string): Uint8Array =>
  sha256(idBytes(nonceOf(seed, account), fromHex(account)))

/** The id of an empty leaf, which looks like any other. */
export const emptyIdOf = (seed: Uint8Array, i: number): Uint8Array =>
  hmacSha256(seed, `empty/v1/${i}`)

/** The leaves of a tree for so many accounts: a power of two, so that few sizes exist. */
export function leavesFor(accounts: number): number {
  let leaves = partLeaves
  while (leaves < accounts) leaves *= 2
  return leaves
}

export function writeLeaf(
  bytes: Uint8Array,
  i: number,
  { id, amount, moves }: LiabilityLeaf,
): void {
  const at = i * leafWidth
  bytes.set(id, at)
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, leafWidth)
  view.setBigUint64(32, amount)
  view.setBigUint64(40, BigInt(moves))
}

export function readLeaf(bytes: Uint8Array, i: number): LiabilityLeaf {
  const at = i * leafWidth
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, leafWidth)
  return {
    id: bytes.subarray(at, at + 32),
    amount: view.getBigUint64(32),
    moves: Number(view.getBigUint64(40)),
  }
}

/** The nodes of the leaves of a part. */
export const leafNodes = (part: Uint8Array): SumNode[] =>
  Array.from({ length: part.length / leafWidth }, (_, i) => {
    const { id, amount } = readLeaf(part, i)
    return { hash: sha256(leafBytes(id, amount)), sum: amount }
  })

/** The root over a power of two of nodes. @throws RangeError for a sum beyond eight bytes */
export function rootOver(nodes: readonly SumNode[]): SumNode {
  const levels = levelsOver(nodes)
  const [root] = levels.at(-1) ?? []
  if (!root) throw new RangeError('a tree has a leaf')
  return root
}

/** The siblings of a node on the way to the root over all of them. */
export const pathOver = (nodes: readonly SumNode[], index: number): SumNode[] =>
  levelsOver(nodes)
    .slice(0, -1)
    .map((level, height) => {
      const sibling = level[(index >> height) ^ 1]
      if (!sibling) throw new RangeError(`not a leaf of the tree: ${index}`)
      return sibling
    })

function levelsOver(nodes: readonly SumNode[]): SumNode[][] {
  const levels: SumNode[][] = [[...nodes]]
  for (let below = levels[0] ?? []; below.length > 1; ) {
    const level: SumNode[] = []
    for (let i = 0; i < below.length; i += 2) {
      const [left, right] = [below[i], below[i + 1]]
      if (!left || !right) throw new RangeError('not a power of two of nodes')
      level.push({ hash: sha256(nodeBytes(left, right)), sum: left.sum + right.sum })
    }
    levels.push(level)
    below = level
  }
  return levels
}

/** A part seen from above: its first id, by which it is found, and its node. */
export type PartHead = { first: Uint8Array; node: SumNode }

const headWidth = 72

/** Row 0 of a statement: the heads of its parts. */
export function packHeads(heads: readonly PartHead[]): Uint8Array {
  const bytes = new Uint8Array(heads.length * headWidth)
  const view = new DataView(bytes.buffer)
  heads.forEach(({ first, node }, i) => {
    bytes.set(first, i * headWidth)
    bytes.set(node.hash, i * headWidth + 32)
    view.setBigUint64(i * headWidth + 64, node.sum)
  })
  return bytes
}

export function readHeads(bytes: Uint8Array): PartHead[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  return Array.from({ length: bytes.length / headWidth }, (_, i) => {
    const at = i * headWidth
    const hash = bytes.subarray(at + 32, at + 64)
    return { first: bytes.subarray(at, at + 32), node: { hash, sum: view.getBigUint64(at + 64) } }
  })
}

/** The part in which an id is, if it is in any: ids of all parts are in order. */
export const partWith = (heads: readonly PartHead[], id: Uint8Array): number =>
  lastUpTo(id, heads.length, (i) => heads[i]?.first)

/** A leaf and its place within a part; undefined if it is not there. */
export function findLeaf(
  part: Uint8Array,
  id: Uint8Array,
): (LiabilityLeaf & { index: number }) | undefined {
  const idAt = (i: number) => part.subarray(i * leafWidth, i * leafWidth + 32)
  const index = lastUpTo(id, part.length / leafWidth, idAt)
  const leaf = readLeaf(part, index)
  return Buffer.compare(leaf.id, id) === 0 ? { ...leaf, index } : undefined
}

/** The last of ids in order that is not behind `id`; 0 if all are. */
function lastUpTo(
  id: Uint8Array,
  count: number,
  idAt: (i: number) => Uint8Array | undefined,
): number {
  let [low, high] = [0, count - 1]
  while (low < high) {
    const middle = (low + high + 1) >> 1
    const found = idAt(middle)
    if (found && Buffer.compare(found, id) <= 0) low = middle
    else high = middle - 1
  }
  return low
}
