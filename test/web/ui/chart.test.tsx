import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { BarChart, LineChart } from '../../../src/web/ui/chart.tsx'
import { bottom, type Point, top, yOf } from '../../../src/web/ui/chart-frame.tsx'
import { namedEvery, scaleOf, tornAbove } from '../../../src/web/ui/chart-scale.ts'

const repeat = (value: number, count: number): number[] =>
  Array.from({ length: count }, () => value)

describe('the scale of a chart', () => {
  test.each([
    [[4.1], [0, 2, 4, 6]],
    [[4], [0, 1, 2, 3, 4]],
    [[0.0123], [0, 0.005, 0.01, 0.015]],
    [[8.1], [0, 2.5, 5, 7.5, 10]],
    [[0], [0, 1, 2, 3]],
    [[], [0, 1, 2, 3]],
    [[1980], [0, 500, 1000, 1500, 2000]],
  ])('of %p has three or four round steps', (values, ticks) => {
    expect(scaleOf(values)).toEqual({ max: ticks.at(-1) ?? 0, ticks })
  })

  test.each([
    [[1], [0, 1, 2, 3]],
    [[8.1], [0, 3, 6, 9]],
    [[9], [0, 3, 6, 9]],
    [[5], [0, 2, 4, 6]],
    [[33], [0, 10, 20, 30, 40]],
  ])('of counts up to %p has whole steps', (values, ticks) => {
    expect(scaleOf(values, true).ticks).toEqual(ticks)
  })

  test('always has three or four steps, and none of them ends in a fraction of a binary', () => {
    for (let value = 0.0001; value < 1e7; value *= 1.037) {
      for (const isWhole of [false, true]) {
        const { ticks, max } = scaleOf([value], isWhole)
        expect([3, 4]).toContain(ticks.length - 1)
        expect(max).toBeGreaterThanOrEqual(value)
        for (const tick of ticks)
          expect(String(tick).replace(/^0\.0*|\.|e.*/g, '').length).toBeLessThan(9)
        if (isWhole) expect(ticks.every(Number.isInteger)).toBe(true)
      }
    }
  })

  test('ignores a bar above twice the 95th percentile', () => {
    const month = [...repeat(1.9, 29), 14.2]
    expect(tornAbove(month)).toBe(3.8)
    expect(scaleOf(month).max).toBe(2)
  })

  test('keeps what is less than twice as high, what is empty out of it, and few bars whole', () => {
    expect(scaleOf([...repeat(2, 28), 3.9, 3.9]).max).toBe(4)
    expect(tornAbove([...repeat(0, 28), 1, 9])).toBe(Number.POSITIVE_INFINITY)
    expect(scaleOf([...repeat(0, 28), 1, 9]).max).toBe(10)
  })

  test('names at most seven bars', () => {
    for (const [count, every] of [
      [7, 1],
      [24, 4],
      [30, 7],
      [92, 14],
      [53, 14],
      [168, 28],
    ] as const)
      expect(namedEvery(count)).toBe(every)
    expect(Math.ceil(500 / namedEvery(500))).toBeLessThanOrEqual(7)
  })
})

const pointsOf = (values: number[], more: Partial<Point> = {}): Point[] =>
  values.map((value, i) => ({
    label: `day ${i + 1}`,
    value,
    words: `$${value}`,
    href: `/runs?day=${i + 1}`,
    ...more,
  }))

const drawn = (points: Point[], more: { before?: string } = {}) =>
  String(
    <BarChart
      id="c"
      finding="Spend by day."
      points={points}
      head={['Day', 'Spend']}
      tick={String}
      {...more}
    />,
  )

describe('a bar chart', () => {
  test('tears a bar that stands out, and says its value', () => {
    const html = drawn(pointsOf([...repeat(2, 29), 14.2]))
    expect(html.match(/class="tear"/g)).toHaveLength(2)
    expect(html).toMatch(/<text class="torn"[^>]*>\$14\.2<\/text>/)
    const tops = [...html.matchAll(/class="b k1"[^>]* y="([\d.]+)"/g)].map(([, y]) => Number(y))
    expect(Math.min(...tops)).toBeGreaterThanOrEqual(top - 4)
    expect(drawn(pointsOf(repeat(2, 30)))).not.toContain('tear')
  })

  test('each bar is a link with its value and a target of full height', () => {
    const html = drawn(pointsOf([1, 2, 3]))
    expect(html).toMatch(
      /<a href="\/runs\?day=2">.*<text class="said"[^>]*>day 2: \$2<\/text><\/a>/,
    )
    expect(html.match(/class="hit"/g)).toHaveLength(3)
    const css = readFileSync(join(import.meta.dir, '../../../public/app.css'), 'utf8')
    expect(css).toContain(
      `.chart .hit { fill: #0000; y: ${top}px; block-size: ${bottom - top}px; }`,
    )
    expect(html).toContain('role="group" aria-labelledby="c-finding"')
    expect(html).not.toContain('style=')
  })

  test('parts stand above each other with a pixel of paper between them', () => {
    const parts = [1, 0, 2].map((value) => ({ value, words: `$${value}` }))
    const html = drawn(pointsOf([3], { parts }))
    const rects = [...html.matchAll(/class="b k(\d)" [^>]* y="([\d.]+)" height="([\d.]+)"/g)]
    expect(rects.map(([, k]) => k)).toEqual(['1', '3'])
    const [lower, upper] = rects.map(([, , y, size]) => ({ y: Number(y), size: Number(size) }))
    expect((lower?.y ?? 0) - (upper?.y ?? 0) - (upper?.size ?? 0)).toBeCloseTo(1, 5)
    expect((lower?.y ?? 0) + (lower?.size ?? 0)).toBeCloseTo(bottom, 5)
  })

  test('the period before is one hairline over all bars, and named', () => {
    const html = drawn(pointsOf([1, 2, 3], { before: 1.5 }), { before: '3 days before' })
    expect(html.match(/<path class="was" d="M0 [^"]*H3"/g)).toHaveLength(1)
    expect(html).toContain('3 days before')
    expect(drawn(pointsOf([1, 2, 3]))).not.toContain('was')
  })

  test('many bars are not stops of the keyboard: the table has their links', () => {
    const html = drawn(pointsOf(repeat(1, 168)))
    expect(html.match(/tabindex="-1"/g)).toHaveLength(168)
    expect(html.match(/<td><a href=/g)).toHaveLength(168)
  })
})

describe('a line chart', () => {
  const shown = (lines: (number | undefined)[][]) =>
    String(
      <LineChart
        id="c"
        finding="Waits."
        points={pointsOf([1, 2, 3])}
        head={['Day', 'Median']}
        tick={String}
        lines={lines}
        series={lines.map((_, i) => ({ name: `line ${i}` }))}
      />,
    )

  test('has a line for each series, and a gap where there is no value', () => {
    const html = shown([
      [1, undefined, 3],
      [4, 5, 6],
    ])
    expect(html).toMatch(/class="ln l1" d="M0\.5,[\d.]+ZM2\.5,[\d.]+Z"/)
    expect(html).toMatch(/class="ln l2" d="M0\.5,[\d.]+L1\.5,[\d.]+L2\.5,[\d.]+"/)
    expect(shown([[undefined, undefined, undefined]])).not.toMatch(/NaN|undefined|Infinity/)
  })

  test('never leaves the chart, however high one value is', () => {
    const html = shown([[...repeat(1, 2), 500]])
    const heights = [...html.matchAll(/[ML][\d.]+,([\d.]+)/g)].map(([, y]) => Number(y))
    expect(Math.min(...heights)).toBeGreaterThanOrEqual(
      Math.floor(yOf(500, { max: 600, ticks: [] })),
    )
  })
})
