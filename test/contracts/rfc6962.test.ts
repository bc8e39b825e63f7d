import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { Glob } from 'bun'
import { type Artefact, compile, readSources } from '../../scripts/contracts.ts'
import { type Hex, toHex } from '../../src/kernel/hex.ts'
import { promise } from '../support/promise.ts'
import { noAnvil } from './anvil.ts'
import { type Chain, type Contract, openChain } from './chain.ts'
import { entryOf, referenceTree, someEntries } from './reference-tree.ts'

const vectors = process.env['VECTORS_DIR']
if (!vectors) console.warn('left out: the RFC 6962 vectors on a chain (VECTORS_DIR is not set)')

describe.skipIf(noAnvil)('the Merkle library on a chain', () => {
  let chain: Chain
  let library: Contract
  beforeAll(async () => {
    chain = await openChain()
    const name = 'Rfc6962Harness.sol'
    const harness = await Bun.file(join(import.meta.dir, name)).text()
    const compiled = compile({ ...(await readSources()), [name]: harness })
    library = await chain.deploy(compiled['Rfc6962Harness'] as Artefact)
  }, 30_000)
  afterAll(() => chain?.stop())

  describe.skipIf(!vectors)('published vectors', () => {
    test('inclusion: accepts and rejects as published', async () => {
      const cases = await readVectors('inclusion')
      const found = await Promise.all(
        cases.map(async ({ file, hashes, integers, proof, wantErr }) => {
          const [root, leaf] = hashes
          const [index, size] = integers
          const holds = await library.read('verifyInclusion', index, size, leaf, proof, root)
          return [file, holds, !wantErr]
        }),
      )
      expect(found.filter(([, holds, expected]) => holds !== expected)).toEqual([])
      expect(found.length).toBeGreaterThanOrEqual(70)
    }, 30_000)

    test('consistency: accepts and rejects as published', async () => {
      const cases = await readVectors('consistency')
      const found = await Promise.all(
        cases.map(async ({ file, hashes, integers, proof, wantErr }) => {
          const holds = await library.read('verifyConsistency', ...integers, ...hashes, proof)
          return [file, holds, !wantErr]
        }),
      )
      expect(found.filter(([, holds, expected]) => holds !== expected)).toEqual([])
      expect(found.length).toBeGreaterThanOrEqual(70)
    }, 30_000)

    test('those that fit 32-byte hashes are 143 of 196', async () => {
      const both = [...(await readVectors('inclusion')), ...(await readVectors('consistency'))]
      expect(both.length).toBe(143)
    })
  })

  describe('against the definition', () => {
    const sizes = Array.from({ length: 17 }, (_, i) => i + 1)
    const tree = referenceTree(someEntries(17))
    const pairs = sizes.flatMap((to) =>
      sizes.filter((from) => from <= to).map((from) => [from, to]),
    )

    test('every leaf of every tree is included, with its path and no other', async () => {
      const wrong = await Promise.all(
        pairs.map(async ([upTo = 0, size = 0]) => {
          const index = upTo - 1
          const path = tree.inclusion(index, size)
          const holds = (at: number, leaf: Hex, of: Hex[]) =>
            library.read('verifyInclusion', at, size, leaf, of, tree.root(size))
          const leaf = tree.leaf(index)
          const answers = await Promise.all([
            holds(index, leaf, path),
            holds(index, leaf, [...path, leaf]),
            holds(index, leaf, path.slice(0, -1)),
            holds(index + 1, leaf, path),
            holds(index, tree.leaf((index + 1) % 17), path),
          ])
          // A tree of one leaf has no path to cut.
          const expected = [true, false, path.length === 0, false, false]
          return answers.every((answer, i) => answer === expected[i])
            ? []
            : [[index, size, answers]]
        }),
      )
      expect(wrong.flat()).toEqual([])
    }, 30_000)

    test('every tree continues every smaller one, with its path and no other', async () => {
      const wrong = await Promise.all(
        pairs.map(async ([from = 0, to = 0]) => {
          const path = tree.consistency(from, to)
          const roots = [tree.root(from), tree.root(to)] as const
          const holds = (first: Hex, second: Hex, of: Hex[]) =>
            library.read('verifyConsistency', from, to, first, second, of)
          const answers = await Promise.all([
            holds(...roots, path),
            holds(...roots, [...path, roots[0]]),
            from === to ? false : holds(...roots, path.slice(0, -1)),
            from === to ? false : holds(roots[1], roots[0], path),
            holds(roots[0], tree.leaf(16), path),
          ])
          const expected = [true, false, false, false, false]
          return answers.every((answer, i) => answer === expected[i]) ? [] : [[from, to, answers]]
        }),
      )
      expect(wrong.flat()).toEqual([])
    }, 30_000)

    promise`G9`
    test('leaves carry their kind, and no node can pass for a leaf', async () => {
      const digest = new Uint8Array(32).fill(0xab)
      const hashes = [0, 1, 2, 3, 255].map((kind) => referenceTree([entryOf(kind, digest)]).leaf(0))
      const made = await Promise.all(
        [0, 1, 2, 3, 255].map((kind) => library.read('leafHash', kind, toHex(digest))),
      )
      expect(made).toEqual(hashes)
      const node = await library.read('nodeHash', tree.leaf(0), tree.leaf(1))
      expect(node).toBe(tree.root(2))
    })
  })
})

type Vector = {
  file: string
  hashes: Hex[]
  integers: bigint[]
  proof: Hex[]
  wantErr: boolean
}

/** The published cases in which every hash has 32 bytes. */
async function readVectors(kind: 'inclusion' | 'consistency'): Promise<Vector[]> {
  const folder = join(vectors ?? '', 'rfc6962/testdata', kind)
  const names = kind === 'inclusion' ? ['root', 'leafHash'] : ['root1', 'root2']
  const sizes = kind === 'inclusion' ? ['leafIdx', 'treeSize'] : ['size1', 'size2']
  const files = [...new Glob('**/*.json').scanSync(folder)].sort()
  const read = files.map(async (file) => {
    const text = await Bun.file(join(folder, file)).text()
    // Sizes reach 2^64 - 1: as text they keep every digit.
    const vector = JSON.parse(text.replace(/("(?:leafIdx|treeSize|size[12])":\s*)(\d+)/g, '$1"$2"'))
    const hashes: string[] = names.map((name) => vector[name] ?? '')
    const proof: string[] = vector.proof ?? []
    return {
      file,
      hashes: hashes.map(fromBase64),
      integers: sizes.map((name) => BigInt(vector[name])),
      proof: proof.map(fromBase64),
      wantErr: vector.wantErr,
    }
  })
  const all = await Promise.all(read)
  return all.filter(({ hashes, proof }) =>
    [...hashes, ...proof].every((hash) => hash.length === 66),
  )
}

const fromBase64 = (text: string): Hex => toHex(new Uint8Array(Buffer.from(text, 'base64')))
