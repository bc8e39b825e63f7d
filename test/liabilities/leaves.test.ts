import { expect, test } from 'bun:test'
import { leavesFor } from '../../src/storage/liabilities/leaves.ts'

test('A tree has a power of two of leaves, 256 at least', () => {
  expect([1, 256, 257, 512, 513, 100_000].map(leavesFor)).toEqual([
    256, 256, 512, 512, 1024, 131_072,
  ])
})
