import { describe, expect, test } from 'bun:test'
import { type Backlog, isDue, isLate } from '../../../src/proof/anchors/anchor.ts'

const policy = { minReceipts: 1000, maxDelayMs: 600_000, minIntervalMs: 60_000 }
const now = 10_000_000
const calm: Backlog = { leaves: 5, oldestAt: now - 1000, lastAt: undefined, wantedAt: undefined }

describe('an anchor is due', () => {
  test.each<[string, Partial<Backlog>, boolean]>([
    ['not for a few fresh leaves', {}, false],
    ['never without a leaf, however long ago the last one was', { leaves: 0, lastAt: 0 }, false],
    ['never without a leaf, even on request', { leaves: 0, wantedAt: now }, false],
    ['for enough leaves', { leaves: 1000 }, true],
    ['not for one less', { leaves: 999 }, false],
    ['when the oldest waited long enough', { oldestAt: now - 600_000 }, true],
    ['not a millisecond sooner', { oldestAt: now - 599_999 }, false],
    ['not before the interval, for enough leaves', { leaves: 1000, lastAt: now - 59_999 }, false],
    ['not before the interval, for old leaves', { oldestAt: 0, lastAt: now - 59_999 }, false],
    ['after the interval', { leaves: 1000, lastAt: now - 60_000 }, true],
    ['at once on request', { wantedAt: now, lastAt: now - 1 }, true],
    [
      'not again for what was asked before the last one',
      { wantedAt: now - 2, lastAt: now - 1 },
      false,
    ],
    ['not for leaves whose age is not known', { oldestAt: undefined }, false],
  ])('An anchor is due %s.', (_, changed, due) => {
    expect(isDue({ ...calm, ...changed }, policy, now)).toBe(due)
  })
})

test('it is late after twice the delay, and never while nothing waits', () => {
  expect(isLate(now - 1_200_000, policy, now)).toBe(false)
  expect(isLate(now - 1_200_001, policy, now)).toBe(true)
  expect(isLate(undefined, policy, now)).toBe(false)
})
