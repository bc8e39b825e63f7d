import { expect, test } from 'bun:test'
import { mayTake } from '../../src/kernel/fair-share.ts'

test.each([
  [0, 1, true],
  [0, 0, false],
  [1, 0, false],
  [7, 1, true],
  [8, 1, false],
  [15, 2, true],
  [16, 2, false],
])('who holds %p places, of which %p are free, may take one more: %p', (own, free, may) => {
  expect(mayTake(own, free)).toBe(may)
})
