import { expect, test } from 'bun:test'
import { mayTake } from '../../../src/kernel/fair-share.ts'
import { promise } from '../../support/promise.ts'

/** Lets accounts take all they may, one after the other; what each has in the end. */
function fill(most: number, accounts: number): number[] {
  const taken: number[] = Array(accounts).fill(0)
  for (let i = 0; i < accounts; i++) {
    const free = () => most - taken.reduce((sum, own) => sum + own, 0)
    while (mayTake(taken[i] ?? 0, free())) taken[i] = (taken[i] ?? 0) + 1
  }
  return taken
}

promise`D23`
test.each([
  [1, [1, 0, 0]],
  [4, [4, 0, 0]],
  [8, [8, 0, 0]],
  [9, [8, 1, 0]],
  [100, [89, 10, 1]],
  [2048, [1821, 202, 23]],
])('of %i places, accounts that come one after the other may take %j', (most, expected) => {
  expect(fill(most, 3)).toEqual(expected)
})

test('an account that has none gets one while one is free', () => {
  const asked: [own: number, free: number][] = [
    [0, 1],
    [0, 0],
    [7, 1],
    [8, 1],
  ]
  expect(asked.map(([own, free]) => mayTake(own, free))).toEqual([true, false, true, false])
})
