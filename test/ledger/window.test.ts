import { describe, expect, test } from 'bun:test'
import { type CapWindow, windowEnd, windowStart } from '../../src/ledger/window.ts'

const table: [window: CapWindow, now: string, start: string, end: string][] = [
  ['day', '2026-01-15T00:00:00.000Z', '2026-01-15', '2026-01-16'],
  ['day', '2026-01-15T23:59:59.999Z', '2026-01-15', '2026-01-16'],
  ['day', '2026-12-31T23:59:59.999Z', '2026-12-31', '2027-01-01'],
  // 2026-01-12 is a Monday.
  ['week', '2026-01-11T23:59:59.999Z', '2026-01-05', '2026-01-12'],
  ['week', '2026-01-12T00:00:00.000Z', '2026-01-12', '2026-01-19'],
  ['week', '2026-01-18T23:59:59.999Z', '2026-01-12', '2026-01-19'],
  ['week', '2026-01-01T00:00:00.000Z', '2025-12-29', '2026-01-05'],
  ['month', '2026-01-31T23:59:59.999Z', '2026-01-01', '2026-02-01'],
  ['month', '2026-02-01T00:00:00.000Z', '2026-02-01', '2026-03-01'],
  ['month', '2026-02-28T23:59:59.999Z', '2026-02-01', '2026-03-01'],
  ['month', '2028-02-29T23:59:59.999Z', '2028-02-01', '2028-03-01'],
  ['month', '2026-04-30T23:59:59.999Z', '2026-04-01', '2026-05-01'],
  ['month', '2026-12-31T23:59:59.999Z', '2026-12-01', '2027-01-01'],
  // The nights in which Europe and the United States turn their clocks.
  ['day', '2026-03-29T01:30:00.000Z', '2026-03-29', '2026-03-30'],
  ['day', '2026-03-08T07:30:00.000Z', '2026-03-08', '2026-03-09'],
  ['day', '2026-10-25T00:30:00.000Z', '2026-10-25', '2026-10-26'],
  ['week', '2026-03-29T23:30:00.000Z', '2026-03-23', '2026-03-30'],
  ['month', '2026-10-25T00:30:00.000Z', '2026-10-01', '2026-11-01'],
]

describe('the window of a cap', () => {
  test.each(table)('%s at %s runs from %s to %s', (window, now, start, end) => {
    const at = Date.parse(now)
    expect(new Date(windowStart(window, at)).toISOString()).toBe(`${start}T00:00:00.000Z`)
    const ends = windowEnd(window, at)
    expect(ends === null ? null : new Date(ends).toISOString()).toBe(`${end}T00:00:00.000Z`)
  })

  test('A lifetime window never starts again.', () => {
    expect(windowStart('lifetime', Date.now())).toBe(0)
    expect(windowEnd('lifetime', Date.now())).toBeNull()
  })

  test('holds every moment of ten years once: each ends where the next starts', () => {
    for (const window of ['day', 'week', 'month'] as const) {
      let at = windowStart(window, Date.UTC(2024, 0, 1))
      while (at < Date.UTC(2034, 0, 1)) {
        const end = windowEnd(window, at)
        if (end === null) throw new Error('it ends')
        expect([windowStart(window, at), windowStart(window, end - 1)]).toEqual([at, at])
        expect(windowStart(window, end)).toBe(end)
        at = end
      }
    }
  })

  test('is the same in every time zone', () => {
    const script = `
      import { windowStart, windowEnd } from '${import.meta.dir}/../../src/ledger/window.ts'
      const all = ${JSON.stringify(table.map(([window, now]) => [window, Date.parse(now)]))}
      console.log(JSON.stringify(all.map(([w, at]) => [windowStart(w, at), windowEnd(w, at)])))`
    const zones = ['UTC', 'America/New_York', 'Pacific/Kiritimati', 'Australia/Lord_Howe']
    const answers = zones.map((zone) =>
      Bun.spawnSync([process.execPath, '-e', script], {
        env: { ...process.env, TZ: zone },
      }).stdout.toString(),
    )
    expect(JSON.parse(answers[0] ?? '').length).toBe(table.length)
    expect(new Set(answers).size).toBe(1)
  }, 20_000)
})
