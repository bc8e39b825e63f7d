import { describe, expect, test } from 'bun:test'
import { toHex } from '../../src/kernel/hex.ts'
import { leafHash, nodeHash } from '../../src/verify/merkle.ts'
import { pathSteps } from '../../src/verify/path.ts'
import type { ProofAnchor } from '../../src/verify/proof.ts'
import { waitingWords } from '../../src/verify/shown-checks.ts'

const leaves = (size: number) =>
  Array.from({ length: size }, (_, i) => leafHash(0, new Uint8Array([i])))

/** RFC 9162 §2.1.1 and §2.1.3.1, word by word. */
function rootOf(tree: Uint8Array[]): Uint8Array {
  const [only] = tree
  if (tree.length === 1 && only) return only
  const k = largestPower(tree.length)
  return nodeHash(rootOf(tree.slice(0, k)), rootOf(tree.slice(k)))
}
function pathOf(tree: Uint8Array[], index: number): Uint8Array[] {
  if (tree.length === 1) return []
  const k = largestPower(tree.length)
  return index < k
    ? [...pathOf(tree.slice(0, k), index), rootOf(tree.slice(k))]
    : [...pathOf(tree.slice(k), index - k), rootOf(tree.slice(0, k))]
}
const largestPower = (n: number): number => {
  let k = 1
  while (k * 2 < n) k *= 2
  return k
}

test('the steps of a path lead from every leaf of every tree to its root', () => {
  for (let size = 1; size <= 33; size++) {
    const tree = leaves(size)
    for (const [index, leaf] of tree.entries()) {
      const path = pathOf(tree, index).map(toHex)
      const proof = { index: String(index), size: String(size), leaf: toHex(leaf), path }
      const { steps, root } = pathSteps(proof)
      expect(root).toBe(toHex(rootOf(tree)))
      expect(steps.map(({ sibling }) => sibling)).toEqual(path)
    }
  }
})

test('a path that is longer than any of its tree ends all the same', () => {
  const [leaf = new Uint8Array(32)] = leaves(1)
  const path = Array(40).fill(toHex(leaf))
  for (const index of ['0', '4', '12']) {
    expect(pathSteps({ index, size: '13', leaf: toHex(leaf), path }).steps).toHaveLength(40)
  }
})

describe('how long an anchor may still take', () => {
  const place = { chain_id: 4663, registry: '0x', log_owner: '0x' }
  const now = Date.UTC(2026, 10, 21)
  const pending = (ms: number | null): ProofAnchor => ({
    status: 'pending',
    ...place,
    expected_by: ms === null ? null : new Date(now + ms).toISOString(),
  })
  test.each([
    [pending(220_000), 'Signed and logged, waiting for the anchor, about 4 min'],
    [pending(60_000), 'Signed and logged, waiting for the anchor, about 1 min'],
    [pending(60_001), 'Signed and logged, waiting for the anchor, about 2 min'],
    [pending(-1), 'Signed and logged, waiting for the anchor, about 1 min'],
    [pending(1), 'Signed and logged, waiting for the anchor, about 1 min'],
    [pending(null), 'Signed and logged, waiting for the anchor, which is late'],
    [{ status: 'disabled' } as const, 'Signed and logged. This service anchors nothing.'],
  ])('The words tell how long the anchor %j may take.', (anchor, words) => {
    expect(waitingWords(anchor, now)).toBe(words)
  })
})
