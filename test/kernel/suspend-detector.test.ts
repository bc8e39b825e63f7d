import { describe, expect, test } from 'bun:test'
import { suspendCounter, suspendsSeen } from '../../src/kernel/suspend-detector.ts'

/** A look after each step, of so many ms by the clock on the wall and by the one that only goes. */
function looks(...steps: [wall: number, monotonic: number][]): number[] {
  let [time, passed] = [1_000_000, 50]
  const count = suspendCounter({ now: () => time, monotonic: () => passed })
  return steps.map(([wall, monotonic]) => {
    time += wall
    passed += monotonic
    return count()
  })
}

describe('suspends', () => {
  const cases: [what: string, steps: [number, number][], counts: number[]][] = [
    [
      'are none while it is called each second',
      [...Array(60)].map(() => [1000, 1000]),
      Array(60).fill(0),
    ],
    ['are none while a turn takes 5 s', [[6000, 6000]], [0]],
    [
      'are one each time that it takes longer',
      [
        [6001, 6001],
        [1000, 1000],
        [9e6, 9e6],
      ],
      [1, 1, 2],
    ],
    [
      'are one when the monotonic clock stood meanwhile',
      [
        [6001, 3],
        [1000, 1000],
      ],
      [1, 1],
    ],
    ['are one when the clock on the wall was set back meanwhile', [[-9e6, 6001]], [1]],
    [
      'are none when it is only set back',
      [
        [-9e6, 1000],
        [1000, 1000],
      ],
      [0, 0],
    ],
  ]
  test.each(cases)('The detector counts suspends: %s.', (_, steps, counts) => {
    expect(looks(...steps)).toEqual(counts)
  })

  test('of this process are a number that stays while it is awake', () => {
    expect(suspendsSeen()).toBe(suspendsSeen())
  })
})
