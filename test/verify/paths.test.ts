import { expect, test } from 'bun:test'
import { toHex } from '../../src/kernel/hex.ts'
import { hashesIn } from '../../src/proof/log/store/leaf.ts'
import {
  append,
  consistencyRanges,
  emptyFrontier,
  hashOf,
  inclusionRanges,
  type Range,
  rootOf,
} from '../../src/proof/log/tree.ts'
import { leafKinds, verifyConsistency, verifyInclusion } from '../../src/verify/merkle.ts'
import { pathSteps } from '../../src/verify/path.ts'
import { parseProof } from '../../src/verify/proof.ts'

/** Every tree up to this size: two levels more than any rule of the form needs. */
const most = 20

const leaves = Array.from({ length: most }, (_, n) => {
  return { kind: leafKinds.receipt, digest: new Uint8Array(32).fill(n + 1) }
})
const hashAt = hashesIn(append(emptyFrontier, leaves).stored, 0)
const hashOfRange = (range: Range) => hashOf(range, hashAt)
const rootAt = (size: number) => rootOf(append(emptyFrontier, leaves.slice(0, size)).frontier)
const other = new Uint8Array(32).fill(99)

test('each leaf of each tree is proven by its path, shown step by step, and by no other', () => {
  for (let size = 1; size <= most; size++) {
    const root = rootAt(size)
    for (let index = 0; index < size; index++) {
      const leaf = hashOfRange({ from: index, to: index + 1 })
      const path = inclusionRanges(index, size).map(hashOfRange)
      const claim = { index: BigInt(index), size: BigInt(size), leaf, path, root }
      expect([size, index, verifyInclusion(claim)]).toEqual([size, index, true])
      const proof = { index: String(index), size: String(size), leaf: toHex(leaf) }
      expect(pathSteps({ ...proof, path: path.map(toHex) }).root).toBe(toHex(root))
      const wrong = [
        { ...claim, root: other },
        { ...claim, leaf: other },
        { ...claim, index: BigInt(index + 1) },
        { ...claim, path: [...path, other] },
        ...(path.length > 0 ? [{ ...claim, path: path.slice(1) }] : []),
      ]
      expect(wrong.map(verifyInclusion)).toEqual(wrong.map(() => false))
    }
  }
})

test('each tree is proven to begin with each smaller one, and with nothing else', () => {
  for (let to = 1; to <= most; to++) {
    for (let from = 1; from < to; from++) {
      const path = consistencyRanges(from, to).map(hashOfRange)
      const sizes = { from: BigInt(from), to: BigInt(to) }
      const claim = { ...sizes, fromRoot: rootAt(from), toRoot: rootAt(to), path }
      expect([from, to, verifyConsistency(claim)]).toEqual([from, to, true])
      const wrong = [
        { ...claim, fromRoot: other },
        { ...claim, toRoot: other },
        { ...claim, path: [...path, other] },
        { ...claim, path: path.slice(1) },
      ]
      expect(wrong.map(verifyConsistency)).toEqual(wrong.map(() => false))
    }
  }
})

test.each([[null], [5], ['proof'], [[]], [undefined]])('The value %p is not a proof.', (value) => {
  const problems: Parameters<typeof parseProof>[2] = []
  expect(parseProof(value, 'rcpt_1', problems)).toBeUndefined()
  expect(problems.length).toBeGreaterThan(0)
})
