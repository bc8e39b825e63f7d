import { describe, expect, test } from 'bun:test'
import { spansOf, splitDays, walk } from '../../../src/billing/usage/log-range.ts'
import { readPeriod } from '../../../src/kernel/period.ts'

const day = 86_400_000

describe('a range', () => {
  const read: [text: string, from: number][] = [
    ['1970-01-01', 0],
    ['2024-02-29', Date.UTC(2024, 1, 29)],
    ['2026-11-21T10:20:30Z', Date.UTC(2026, 10, 21, 10, 20, 30)],
    ['2026-11-21t10:20:30.5z', Date.UTC(2026, 10, 21, 10, 20, 30, 500)],
    ['2026-11-21T10:20:30.123456789Z', Date.UTC(2026, 10, 21, 10, 20, 30, 123)],
    ['2026-11-21T01:00:00+02:30', Date.UTC(2026, 10, 20, 22, 30)],
    ['2026-11-21T01:00:00-02:30', Date.UTC(2026, 10, 21, 3, 30)],
  ]
  test.each(read)('The range begins at the time %s.', (text, from) => {
    expect(readPeriod({ from: text })).toEqual({ from, to: Number.POSITIVE_INFINITY })
  })

  const wrong = [
    ...['', ' 2026-11-21', '2026-11-21 10:20:30Z', '2026-1-1', '26-11-21', '2026-02-29'],
    ...['2026-11-31', '2026-00-10', '2026-11-00', '1969-12-31', '+2026-11-21', '2026-11-21Z'],
    ...['2026-11-21T10:20Z', '2026-11-21T10:60:00Z', '2026-11-21T23:59:60Z', '20261121'],
    ...['2026-11-21T10:20:30.Z', '2026-11-21T10:20:30+24:00', '2026-11-21T10:20:30+2:00'],
    ...['2026-11-21T10:20:30.1234567890Z', '٢٠٢٦-11-21', '2026-11-21\n'],
  ]
  test.each(wrong)('does not begin at %j', (text) => {
    expect(() => readPeriod({ from: text })).toThrow('RFC 3339')
    expect(() => readPeriod({ to: text })).toThrow('RFC 3339')
  })

  test('ends with the whole of a date, but before a time', () => {
    expect(readPeriod({ to: '2026-11-21' }).to).toBe(Date.UTC(2026, 10, 22))
    expect(readPeriod({ to: '2026-11-21T00:00:00Z' }).to).toBe(Date.UTC(2026, 10, 21))
  })

  test('is cut into whole days and its edges', () => {
    const split = (from: number, to: number) => splitDays({ from, to })
    expect(split(0, 2 * day)).toEqual({ whole: { from: 0, to: 2 * day }, edges: [] })
    expect(split(5, 2 * day + 7)).toEqual({
      whole: { from: day, to: 2 * day },
      edges: [
        { from: 5, to: day },
        { from: 2 * day, to: 2 * day + 7 },
      ],
    })
    expect(split(5, 7).edges).toEqual([{ from: 5, to: 7 }])
    expect(split(5, day + 7)).toEqual({
      whole: { from: day, to: day },
      edges: [
        { from: 5, to: day },
        { from: day, to: day + 7 },
      ],
    })
    expect(split(5, Number.POSITIVE_INFINITY).whole.to).toBe(Number.POSITIVE_INFINITY)
  })
})

describe('places to read', () => {
  const marks = new Map([
    [0, { start: 0, end: 10 }],
    [day, { start: 8, end: 20 }],
    [2 * day, { start: 30, end: 40 }],
  ])
  test('are those of the days, made one where they overlap, and all that is not counted', () => {
    expect(spansOf([0, day], marks, { cursor: 40, size: 45 })).toEqual([
      { start: 0, end: 20 },
      { start: 40, end: 45 },
    ])
    expect(spansOf([2 * day, 9 * day], marks, { cursor: 40, size: 45 })).toEqual([
      { start: 30, end: 45 },
    ])
    expect(spansOf([], marks, { cursor: 40, size: 40 })).toEqual([])
  })

  test('end at the size that is asked for', () => {
    expect(spansOf([0, day, 2 * day], marks, { cursor: 40, size: 15 })).toEqual([
      { start: 0, end: 15 },
    ])
    expect(spansOf([2 * day], marks, { cursor: 40, size: 15 })).toEqual([])
  })

  test('Places of the log are read in pieces.', async () => {
    const pieces = await Array.fromAsync(walk([{ start: 0, end: 5 }], 2))
    expect(pieces.map(({ start, end }) => [start, end])).toEqual([
      [0, 2],
      [2, 4],
      [4, 5],
    ])
  })
})
