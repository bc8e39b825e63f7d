import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { Glob } from 'bun'
import { toHex } from '../../src/kernel/hex.ts'
import {
  append,
  consistencyRanges,
  emptyFrontier,
  type HashAt,
  hashIn,
  hashOf,
  homeOf,
  inclusionRanges,
} from '../../src/proof/log/tree.ts'
import {
  type InclusionClaim,
  leafHash,
  leafKinds,
  nodeHash,
  verifyConsistency,
  verifyInclusion,
} from '../../src/verify/merkle.ts'
import { promise } from '../support/promise.ts'

// 45,000 paths on a busy machine.
setDefaultTimeout(60_000)

const vectors = Bun.env['VECTORS_DIR']
const largest = 300

const digests = Array.from({ length: largest }, (_, i) => {
  const digest = new Uint8Array(32)
  new DataView(digest.buffer).setUint32(0, i)
  return digest
})
/** What this stores suffices for every smaller tree. */
const grown = append(
  emptyFrontier,
  digests.map((digest) => ({ kind: 0, digest }) as const),
)
const hashAt: HashAt = (place) => {
  const leaf = grown.stored[homeOf(place)]
  if (!leaf) throw new Error(`no leaf ${homeOf(place)}`)
  return hashIn(leaf, place)
}
const rootOf = (size: number) => hashOf({ from: 0, to: size }, hashAt)
const leafOf = (index: number) => hashAt({ level: 0, idx: index })
const claimOf = (index: number, size: number): InclusionClaim => ({
  index: BigInt(index),
  size: BigInt(size),
  leaf: leafOf(index),
  path: inclusionRanges(index, size).map((range) => hashOf(range, hashAt)),
  root: rootOf(size),
})
const consistencyOf = (from: number, to: number) => ({
  from: BigInt(from),
  to: BigInt(to),
  fromRoot: rootOf(from),
  toRoot: rootOf(to),
  path: consistencyRanges(from, to).map((range) => hashOf(range, hashAt)),
})

/** The tree of RFC 9162 §2.1.1 as it is written there: the oracle of the stored one. */
function treeHash(leaves: Uint8Array[]): Uint8Array {
  const [only] = leaves
  if (leaves.length === 1 && only) return only
  let split = 1
  while (split * 2 < leaves.length) split *= 2
  return nodeHash(treeHash(leaves.slice(0, split)), treeHash(leaves.slice(split)))
}

const flipped = (hash: Uint8Array) => hash.map((byte, i) => (i === 17 ? byte ^ 1 : byte))
const without = <T>(list: readonly T[], at: number) => list.filter((_, i) => i !== at)

describe('the stored tree', () => {
  test('has the root of RFC 9162 at every size', () => {
    const leaves = digests.map((digest) => leafHash(0, digest))
    for (let size = 1; size <= largest; size++) {
      expect(toHex(rootOf(size))).toBe(toHex(treeHash(leaves.slice(0, size))))
    }
    expect(toHex(rootOf(0))).toStartWith('0xe3b0c44298fc1c14')
  })

  test('stores at most 2n−1 hashes, the same whether it grows at once or leaf by leaf', () => {
    const hashes = grown.stored.reduce((sum, leaf) => sum + leaf.hashes.length / 32, 0)
    expect(hashes).toBeLessThanOrEqual(2 * largest - 1)
    let frontier = emptyFrontier
    const stored = digests.flatMap((digest) => {
      const step = append(frontier, [{ kind: 0, digest }])
      frontier = step.frontier
      return step.stored
    })
    expect(stored).toEqual(grown.stored)
    expect(frontier).toEqual(grown.frontier)
  })

  test('keeps kinds apart: the same digest as another kind is another leaf', () => {
    const digest = digests[5] ?? new Uint8Array(32)
    const leaves = ([0, 1, 2, 3] as const).map((kind) => toHex(leafHash(kind, digest)))
    expect(new Set(leaves).size).toBe(4)
    for (const [kind, leaf] of leaves.entries()) {
      const made = append(emptyFrontier, [{ kind: kind as 0 | 1 | 2 | 3, digest }])
      expect(toHex(made.stored[0]?.hashes ?? new Uint8Array())).toBe(leaf as `0x${string}`)
    }
  })
})

describe('inclusion', () => {
  test('of every leaf at every size up to 300 is proven', () => {
    for (let size = 1; size <= largest; size++) {
      for (let index = 0; index < size; index++) {
        if (!verifyInclusion(claimOf(index, size))) throw new Error(`${index} of ${size}`)
      }
    }
  })

  promise`G9 C: Leaves and nodes cannot pass for each other, and no wrong path proves anything.`
  test('fails with another index, size, leaf or root, or a path cut, longer or changed', () => {
    const passed: string[] = []
    for (let size = 1; size <= largest; size += size < 70 ? 1 : 23) {
      for (let index = 0; index < size; index += size < 20 ? 1 : 7) {
        const claim = claimOf(index, size)
        for (const [what, change] of Object.entries(mutationsOf(claim, index, size))) {
          if (verifyInclusion({ ...claim, ...change })) passed.push(`${what}: ${index} of ${size}`)
        }
      }
    }
    expect(passed).toEqual([])
  })

  promise`G9`
  test('refuses a node where a leaf is due', () => {
    // Two leaves and their parent: a tree of one leaf fewer would take the parent for a leaf.
    for (const [index, size] of [
      [0, 1],
      [0, 2],
      [1, 2],
    ] as const) {
      const node = hashAt({ level: 1, idx: index })
      const path = inclusionRanges(index, size).map(({ from, to }) =>
        hashOf({ from: from * 2, to: to * 2 }, hashAt),
      )
      const claim = { index: BigInt(index), size: BigInt(size), path, root: rootOf(size * 2) }
      // The arithmetic alone holds; the prefix makes it impossible to open the node as a leaf.
      expect(verifyInclusion({ ...claim, leaf: node })).toBe(true)
      const children = new Uint8Array(64)
      children.set(leafOf(index * 2))
      children.set(leafOf(index * 2 + 1), 32)
      for (const kind of [0, 1, 2, 3] as const) {
        expect(verifyInclusion({ ...claim, leaf: leafHash(kind, children) })).toBe(false)
        expect(verifyInclusion({ ...claim, leaf: leafHash(kind, node) })).toBe(false)
      }
    }
  })
})

/** Everything that can be wrong with a proof of leaf `index` in a tree of `size`. */
function mutationsOf(
  claim: InclusionClaim,
  index: number,
  size: number,
): Record<string, Partial<InclusionClaim>> {
  const { path, leaf, root } = claim
  const other = leafOf((index + 1) % largest)
  const changes: Record<string, Partial<InclusionClaim>> = {
    'one byte of the leaf': { leaf: flipped(leaf) },
    'one byte of the root': { root: flipped(root) },
    'a short leaf': { leaf: leaf.slice(1) },
    'a hash after the path': { path: [...path, root] },
    'a hash before the path': { path: [leaf, ...path] },
    'the size as index': { index: BigInt(size) },
    'a negative index': { index: -1n },
    'an empty tree': { size: 0n },
  }
  if (size > 1) {
    changes['another leaf'] = { leaf: other }
    changes['the next index'] = { index: BigInt((index + 1) % size) }
    changes['a parent as leaf'] = { leaf: nodeHash(leaf, path[0] ?? leaf), path: path.slice(1) }
  }
  for (const [i, hash] of path.entries()) {
    changes[`hash ${i} left out`] = { path: without(path, i) }
    changes[`one byte of hash ${i}`] = {
      path: path.map((one, at) => (at === i ? flipped(hash) : one)),
    }
    changes[`hash ${i} short`] = { path: path.map((one, at) => (at === i ? hash.slice(1) : one)) }
  }
  return changes
}

describe('consistency', () => {
  test('of all pairs of sizes up to 130 and some up to 300 is proven', () => {
    for (let to = 1; to <= largest; to += to < 130 ? 1 : 17) {
      for (let from = 1; from <= to; from++) {
        if (!verifyConsistency(consistencyOf(from, to))) throw new Error(`${from} to ${to}`)
      }
    }
  })

  test('fails with another size or root, or a path cut, longer or changed', () => {
    const passed: string[] = []
    for (let to = 2; to <= largest; to += to < 40 ? 1 : 29) {
      for (let from = 1; from < to; from += to < 40 ? 1 : 13) {
        const claim = consistencyOf(from, to)
        const { path, fromRoot, toRoot } = claim
        const changes: Record<string, Partial<typeof claim>> = {
          'one byte of the first root': { fromRoot: flipped(fromRoot) },
          'one byte of the second root': { toRoot: flipped(toRoot) },
          'the roots swapped': { fromRoot: toRoot, toRoot: fromRoot },
          'the sizes swapped': { from: claim.to, to: claim.from },
          'an empty first tree': { from: 0n },
          'a hash more': { path: [...path, toRoot] },
          'a hash before': { path: [fromRoot, ...path] },
          'no path': { path: [] },
        }
        for (const [i, hash] of path.entries()) {
          changes[`hash ${i} left out`] = { path: without(path, i) }
          changes[`one byte of hash ${i}`] = {
            path: path.map((one, at) => (at === i ? flipped(hash) : one)),
          }
        }
        for (const [what, change] of Object.entries(changes)) {
          if (verifyConsistency({ ...claim, ...change })) passed.push(`${what}: ${from} to ${to}`)
        }
      }
    }
    expect(passed).toEqual([])
  })

  test('of a rewritten log is not to be had', () => {
    const size = 97
    const honest = consistencyOf(60, size)
    const rewritten = digests
      .slice(0, size)
      .map((digest, i) => (i === 31 ? flipped(digest) : digest))
    const toRoot = treeHash(rewritten.map((digest) => leafHash(0, digest)))
    expect(verifyConsistency(honest)).toBe(true)
    expect(verifyConsistency({ ...honest, toRoot })).toBe(false)
  })
})

describe.skipIf(!vectors)('RFC 6962 vectors (VECTORS_DIR)', () => {
  const folder = `${vectors}/rfc6962/testdata`

  test('The 98 vectors of inclusion hold.', async () => {
    const cases = await readCases(`${folder}/inclusion`)
    for (const { text, value } of cases) {
      const claim = {
        index: integerIn(text, 'leafIdx'),
        size: integerIn(text, 'treeSize'),
        leaf: bytesOf(value['leafHash']),
        path: listOf(value['proof']),
        root: bytesOf(value['root']),
      }
      expect([value['desc'], verifyInclusion(claim)]).toEqual([value['desc'], !value['wantErr']])
    }
    expect(cases.length).toBe(98)
  })

  test('The 98 vectors of consistency hold.', async () => {
    const cases = await readCases(`${folder}/consistency`)
    for (const { text, value } of cases) {
      const claim = {
        from: integerIn(text, 'size1'),
        to: integerIn(text, 'size2'),
        fromRoot: bytesOf(value['root1']),
        toRoot: bytesOf(value['root2']),
        path: listOf(value['proof']),
      }
      expect([value['desc'], verifyConsistency(claim)]).toEqual([value['desc'], !value['wantErr']])
    }
    expect(cases.length).toBe(98)
  })

  async function readCases(under: string) {
    const files = [...new Glob('**/*.json').scanSync(under)].sort()
    const texts = await Promise.all(files.map((file) => Bun.file(`${under}/${file}`).text()))
    return texts.map((text) => ({ text, value: JSON.parse(text) as Record<string, unknown> }))
  }

  /** From the text: JSON's numbers lose what is above 2^53. */
  const integerIn = (text: string, name: string) =>
    BigInt(new RegExp(`"${name}":\\s*(-?\\d+)`).exec(text)?.[1] ?? '0')
  const bytesOf = (value: unknown) =>
    new Uint8Array(Buffer.from((value as string | null) ?? '', 'base64'))
  const listOf = (value: unknown) => ((value as unknown[] | null) ?? []).map(bytesOf)
})

test('what a leaf is about is a byte of its hash, and the same byte for ever', () => {
  expect(leafKinds).toEqual({
    receipt: 0,
    priceList: 1,
    signerRotation: 2,
    passportStatement: 3,
    reopening: 4,
    liabilities: 5,
    upstreamEvidence: 6,
  })
  for (const kind of Object.values(leafKinds)) {
    const digest = new Uint8Array(32).fill(7)
    const hash = new Bun.CryptoHasher('sha256').update(new Uint8Array([0, kind])).update(digest)
    expect(toHex(leafHash(kind, digest))).toBe(`0x${hash.digest('hex')}`)
  }
})
