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

test.each([
  [0, 10, 10, true],
  [0, 10, 11, false],
  [70, 20, 10, true],
  [80, 20, 10, false],
])('who holds %p of which %p are free may take %p more: %p', (own, free, wanted, may) => {
  expect(mayTake(own, free, wanted)).toBe(may)
})
