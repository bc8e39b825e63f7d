import { createHash } from 'node:crypto'
import { toHex } from '../../src/kernel/hex.ts'
import { structDigest } from '../../src/verify/eip712.ts'
import { type LiabilitiesFile, liabilitiesDigest } from '../../src/verify/liabilities.ts'
import { leafHash, leafKinds } from '../../src/verify/merkle.ts'
import { testSigner } from './samples.ts'

/** A tree as someone else would write it, from the words of docs/trust.md. */
type Node = { hash: Buffer; sum: bigint }

const hashOf = (...parts: Uint8Array[]): Buffer =>
  createHash('sha256').update(Buffer.concat(parts)).digest()

const eight = (sum: bigint): Buffer => {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(BigInt.asUintN(64, sum))
  return bytes
}

const bytesOf = (hex: string): Buffer => Buffer.from(hex.slice(2), 'hex')

export const nonceFor = (n: number): `0x${string}` => `0x${String(n).padStart(64, '0')}`
export const accountFor = (n: number): string => `0x${'a'.repeat(38)}${String(n).padStart(2, '0')}`

export const leafFor = (account: string, nonce: string, amount: bigint): Node => {
  const id = hashOf(Buffer.of(2), bytesOf(nonce), bytesOf(account))
  return { hash: hashOf(Buffer.of(3), id, eight(amount)), sum: amount }
}

const over = (left: Node, right: Node): Node => ({
  hash: hashOf(Buffer.of(4), eight(left.sum), left.hash, eight(right.sum), right.hash),
  sum: left.sum + right.sum,
})

/** The root over leaves, a power of two of them, and the path of each. */
export function treeOf(leaves: readonly Node[]): { root: Node; paths: Node[][] } {
  const paths: Node[][] = leaves.map(() => [])
  let level = [...leaves]
  for (let height = 0; level.length > 1; height++) {
    for (const [i, path] of paths.entries()) path.push(level[(i >> height) ^ 1] as Node)
    level = level.flatMap((node, i) => (i % 2 === 1 ? [over(level[i - 1] as Node, node)] : []))
  }
  return { root: level[0] as Node, paths }
}

type Wish = {
  balances?: readonly bigint[]
  whose?: number
  /** What is signed beside the tree. */
  more?: object
  leaves?: readonly Node[]
}

/** A file of account `whose`, rightly signed even where it lies. */
export function liabilitiesFileOf(wish: Wish = {}): LiabilitiesFile {
  const { balances = [5n, 0n, 70n, 9n], whose = 2, more = {} } = wish
  const leaves = wish.leaves ?? balances.map((b, i) => leafFor(accountFor(i), nonceFor(i), b))
  const { root, paths } = treeOf(leaves)
  const statement = {
    issuer: 'https://gw.example',
    number: '3',
    previous: `0x${'00'.repeat(32)}` as const,
    as_of: '1790000000000',
    leaves: String(leaves.length),
    root: toHex(root.hash),
    total_nusd: String(root.sum),
    treasury: accountFor(90),
    token: accountFor(91),
    treasury_nusd: '100',
    block: '7',
    ...more,
  }
  return signed({
    type: 'counterfoil.liabilities',
    version: '1',
    statement,
    signature: '',
    log: { index: '0', path: [], checkpoint: undefined as never },
    own: {
      account: accountFor(whose),
      balance_nusd: String(balances[whose]),
      nonce: nonceFor(whose),
      index: String(whose),
      path: (paths[whose] ?? []).map(({ hash, sum }) => ({
        hash: toHex(hash),
        sum_nusd: String(sum),
      })),
    },
  })
}

/** The same file with its statement signed and in a log of its own, as a liar would do it. */
export function signed(file: LiabilitiesFile, by = testSigner): LiabilitiesFile {
  const digest = liabilitiesDigest(file.statement)
  const head = {
    issuer: file.statement.issuer,
    size: '1',
    root: toHex(leafHash(leafKinds.liabilities, digest)),
    timestamp: '1790000000001',
  }
  const checkpoint = { ...head, signature: toHex(by.sign(structDigest('Checkpoint', head))) }
  const log = { index: '0', path: [], checkpoint }
  return { ...file, signature: toHex(by.sign(digest)), log }
}
