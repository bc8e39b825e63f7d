import { expect, test } from 'bun:test'
import { nearest } from '../../src/kernel/nearest.ts'

test.each([
  ['limts', 'limits'],
  ['admin', 'admins'],
  ['xyz', undefined],
  ['', undefined],
])('%j is meant as %j', (word, meant) => {
  expect(nearest(word, ['limits', 'admins', 'models'])).toBe(meant)
})

test('a word without end is compared with nothing', () => {
  const names = Array.from({ length: 1000 }, (_, i) => `name-${i}-${'x'.repeat(100)}`)
  // Letter by letter this would be 100 billion comparisons.
  expect(nearest('a'.repeat(1_000_000), names)).toBeUndefined()
})
