import { describe, expect, test } from 'bun:test'
import {
  consistencyRanges,
  emptyFrontier,
  inclusionRanges,
  type Range,
} from '../../../src/proof/log/tree.ts'

/** Sizes above 2^32, where 32-bit operators fail; no log of a test grows that large. */
const sizes = [
  2 ** 32 - 1,
  2 ** 32,
  2 ** 32 + 1,
  2 ** 33,
  2 ** 33 + 1,
  3 * 2 ** 40 + 5,
  2 ** 53 - 1,
]

const byPlace = (ranges: Range[]): Range[] => ranges.toSorted((a, b) => a.from - b.from)

/** Where each range ends the next one begins. */
const cover = (ranges: Range[]): boolean =>
  byPlace(ranges).every(({ from }, i, all) => i === 0 || all[i - 1]?.to === from)

describe('a tree of more leaves than 2^32', () => {
  test.each(sizes)('of %d: a path and its leaf are all of it', (size) => {
    for (const index of [0, 1, 2 ** 31, Math.floor(size / 3), size - 2, size - 1]) {
      const all = byPlace([...inclusionRanges(index, size), { from: index, to: index + 1 }])
      expect(cover(all)).toBe(true)
      expect([all[0]?.from, all.at(-1)?.to]).toEqual([0, size])
    }
  })

  test.each(sizes)(
    'of %d: the first leaf has a sibling of each power of two, smallest first',
    (size) => {
      const ranges = inclusionRanges(0, size)
      const powers = ranges.map((_, i) => ({ from: 2 ** i, to: Math.min(2 ** (i + 1), size) }))
      expect(ranges).toEqual(powers)
      expect(ranges.at(-1)?.to).toBe(size)
    },
  )

  test.each(sizes)('of %d: what joins it to a smaller one is all that is not in that', (size) => {
    for (const first of [1, 3, 2 ** 31 + 1, size - 1]) {
      const added = byPlace(consistencyRanges(first, size)).filter(({ to }) => to > first)
      expect(cover(added)).toBe(true)
      expect([added[0]?.from, added.at(-1)?.to]).toEqual([first, size])
    }
  })
})

test('a tree without leaves has no size', () =>
  expect(emptyFrontier).toEqual({ size: 0, peaks: [] }))
