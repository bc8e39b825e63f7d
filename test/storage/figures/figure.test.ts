import { describe, expect, test } from 'bun:test'
import {
  addFigure,
  addHistograms,
  figureChanges,
  figureOf,
  firstTokenBounds,
  medianOf,
  noFirstTokens,
} from '../../../src/storage/figures/figure.ts'
import { grainStart } from '../../../src/storage/figures/grain.ts'

const at = Date.UTC(2026, 10, 20, 12, 34, 56, 789)
const run = {
  model: 'acme/small',
  kind: 'chat' as const,
  cost: 450_000n,
  startedAt: at - 1000,
  firstByteAt: at - 580,
  finishedAt: at,
}
const shown = (...sections: ('run' | 'charge' | 'passport')[]) => ({
  visibility: 'public' as const,
  sections,
})
const histogram = (...ms: number[]) =>
  ms.reduce(
    (sum, one) =>
      addHistograms(
        sum,
        figureOf({ ...run, firstByteAt: run.startedAt + one }, shown('run'))?.firstTokens ?? [],
      ),
    noFirstTokens(),
  )

describe('what a receipt adds to the public figures', () => {
  test('only what its owner shows to everybody', () => {
    expect(figureOf(run, undefined)).toBeUndefined()
    expect(figureOf(run, { visibility: 'unlisted', sections: ['run', 'charge'] })).toBeUndefined()
    expect(figureOf(run, shown('passport'))).toBeUndefined()
    expect(figureOf(run, shown('run', 'charge'))).toMatchObject({
      model: 'acme/small',
      runs: 1,
      cost: 450_000n,
    })
    expect(figureOf(run, shown('run'))).toMatchObject({ model: 'acme/small', runs: 1, cost: 0n })
    expect(figureOf(run, shown('charge'))).toMatchObject({ model: '', runs: 0, cost: 450_000n })
    expect(figureOf(run, shown('charge'))?.firstTokens).toEqual(noFirstTokens())
  })

  test('no first token where there is none', () => {
    const none = [
      { ...run, firstByteAt: null },
      { ...run, startedAt: null },
      { ...run, kind: 'embedding' as const },
    ]
    for (const one of none) {
      expect(figureOf(one, shown('run'))?.firstTokens).toEqual(noFirstTokens())
    }
  })

  test('a change of what is not counted changes nothing', () => {
    expect(figureChanges(run, shown('run', 'charge'), shown('run', 'charge', 'passport'))).toEqual(
      [],
    )
    expect(figureChanges(run, undefined, { visibility: 'unlisted', sections: ['run'] })).toEqual([])
  })

  test('more is never taken back than was added', () => {
    const [change] = figureChanges(run, shown('run'), undefined)
    if (!change) throw new Error('no change')
    const none = { ...change, runs: 0, cost: 0n, firstTokens: noFirstTokens() }
    expect(() => addFigure(none, change)).toThrow('below zero')
  })
})

describe('the median of the time to the first token', () => {
  test.each([
    [[], undefined],
    // Evenly within its bar: half of 400…500 ms.
    [[420], 450],
    [[420, 480], 450],
    [[5, 5, 5, 5, 900], 6],
    [[450, 60_000, 60_000], 30_000],
    [[10], 5],
  ] as const)('The median of the times %p is %p.', (times, median) => {
    expect(medianOf(histogram(...times))).toBe(median)
  })

  test('is never off by more than its bar', () => {
    for (let ms = 1; ms <= 30_000; ms = Math.ceil(ms * 1.1)) {
      const high = firstTokenBounds.findIndex((bound) => ms <= bound)
      const median = medianOf(histogram(ms, ms, ms)) ?? Number.NaN
      expect(median).toBeGreaterThanOrEqual(firstTokenBounds[high - 1] ?? 0)
      expect(median).toBeLessThanOrEqual(firstTokenBounds[high] ?? 0)
    }
  })
})

test('an hour and a day begin in UTC, all time at 0', () => {
  expect(grainStart('hour', at)).toBe(Date.UTC(2026, 10, 20, 12))
  expect(grainStart('day', at)).toBe(Date.UTC(2026, 10, 20))
  expect(grainStart('all', at)).toBe(0)
})
