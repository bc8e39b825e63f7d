/** Bar and line charts in SVG, with their table. */
import { line } from 'd3-shape'
import { type ChartProps, Framed, height, type Point, percent, top, yOf } from './chart-frame.tsx'
import { type ChartScale, scaleOf } from './chart-scale.ts'
import type { Child } from './jsx-runtime.ts'

/** Bars with more neighbours than this are reached by keys in the table alone. */
const stopsMax = 31

/** The part of its place that a bar fills. */
const fill = 0.72

/**
 * Bars from zero, stacked where there are series, and the same as a table. Each says its value
 * under the pointer and in focus, and leads to its parts. A bar far above the others is torn.
 */
export function BarChart(props: ChartProps) {
  const { points } = props
  const scale = scaleOf([...points.map(({ value }) => value), ...formerOf(points)], props.isWhole)
  return (
    <Framed props={props} scale={scale}>
      {points.map((point, i) => (
        <Place of={point} at={i} count={points.length}>
          <Bar point={point} place={placeOf(i, points.length)} scale={scale} />
        </Place>
      ))}
      {points.map(({ value, words }, i) =>
        value > scale.max ? (
          <Words look="torn" at={i} count={points.length}>
            {words}
          </Words>
        ) : null,
      )}
      <Former points={points} scale={scale} />
    </Framed>
  )
}

const formerOf = (points: readonly Point[]): number[] =>
  points.flatMap(({ before }) => before ?? [])

type PlaceBox = { x: number; width: number }

/** Of a bar, in percent of the width. */
const placeOf = (i: number, count: number): PlaceBox => ({
  x: ((i + (1 - fill) / 2) / count) * 100,
  width: (fill / count) * 100,
})

type PlaceProps = { of: Point; at: number; count: number; children?: Child }

/** A full-height target, which `app.css` places, with the value above it: that is its name too. */
function Place({ of: { label, words, href }, at, count, children }: PlaceProps) {
  const isStop = count <= stopsMax
  const name = `${label}: ${words}`
  const content = (
    <>
      {children}
      <rect class="hit" x={percent((at / count) * 100)} width={percent(100 / count)} />
      <Words look="said" at={at} count={count}>
        {name}
      </Words>
    </>
  )
  if (href === undefined) {
    return (
      <g tabindex={isStop ? '0' : undefined}>
        <title>{name}</title>
        {content}
      </g>
    )
  }
  return (
    <a href={href} tabindex={isStop ? undefined : '-1'}>
      {content}
    </a>
  )
}

/** Above a bar, inside the chart also at its edges. */
function Words({ look, at, count, children }: WordsProps) {
  const middle = ((at + 0.5) / count) * 100
  const anchor = middle < 15 ? 'start' : middle > 85 ? 'end' : 'middle'
  const edges = { start: at / count, middle: (at + 0.5) / count, end: (at + 1) / count }
  return (
    <text class={look} x={percent(edges[anchor] * 100)} y="20" text-anchor={anchor}>
      {children}
    </text>
  )
}

type WordsProps = { look: 'said' | 'torn'; at: number; count: number; children?: Child }

type BarProps = { point: Point; place: PlaceBox; scale: ChartScale }

function Bar({ point, place, scale }: BarProps) {
  const { value, open, parts = [point] } = point
  const isTorn = value > scale.max
  const shrink = isTorn ? (scale.max * 1.02) / value : 1
  const drawn = parts.filter((part) => part.value > 0).length
  let below = 0
  let nth = 0
  return (
    <>
      {parts.map((part, i) => {
        if (part.value <= 0) return null
        const [from, to] = [below, below + part.value * shrink]
        below = to
        nth++
        // One pixel of paper below the next part.
        const [y, gap] = [yOf(to, scale), nth < drawn ? 1 : 0]
        return (
          <rect
            class={['b', `k${i + 1}`, open && 'part']}
            x={percent(place.x)}
            width={percent(place.width)}
            y={(y + gap).toFixed(1)}
            height={Math.max(0.8, yOf(from, scale) - y - gap).toFixed(1)}
          />
        )
      })}
      {isTorn ? <Tear place={place} /> : null}
    </>
  )
}

/** Two strokes of paper over a bar: its ragged end, and a gap below that. */
const Tear = ({ place: { x, width } }: { place: PlaceBox }) => (
  <svg
    x={percent(x - width * 0.02)}
    width={percent(width * 1.04)}
    y="0"
    height={height}
    viewBox={`0 0 100 ${height}`}
    preserveAspectRatio="none"
    aria-hidden="true"
  >
    <path class="tear" d={`M${ragged(64)}L${ragged(58).split('L').reverse().join('L')}z`} />
    <path class="tear" d={`M${ragged(top + 1)}L100 ${top - 8}L0 ${top - 8}z`} />
  </svg>
)

const ragged = (y: number): string =>
  Array.from({ length: 9 }, (_, i) => `${i * 12.5} ${y - (i % 2) * 4}`).join('L')

/** The period before as a hairline over the bars, a step for each of them. */
function Former({ points, scale }: { points: readonly Point[]; scale: ChartScale }) {
  if (formerOf(points).length === 0) return null
  const steps = points.map(({ before = 0 }, i) => {
    const y = yOf(before, scale).toFixed(1)
    return `${i === 0 ? `M0 ${y}` : `V${y}`}H${i + 1}`
  })
  return (
    <Stretched width={points.length}>
      <path class="was" d={steps.join('')} />
    </Stretched>
  )
}

type StretchedProps = { width: number; children?: Child }

/** A drawing as wide as the chart; its strokes keep their width. */
const Stretched = ({ width, children }: StretchedProps) => (
  <svg
    class="over"
    x="0"
    y="0"
    width="100%"
    height={height}
    viewBox={`0 0 ${width} ${height}`}
    preserveAspectRatio="none"
    aria-hidden="true"
  >
    {children}
  </svg>
)

/** A line of a chart: nothing at the points that are undefined. */
type Line = readonly (number | undefined)[]

type LineProps = ChartProps & {
  /** One line a series; absent for the values of the points alone. */
  lines?: readonly Line[] | undefined
}

/** Lines from zero, and the same as a table. */
export function LineChart({ lines: given, ...props }: LineProps) {
  const { points } = props
  const lines = given ?? [points.map(({ value }) => value)]
  const values = lines.flat().filter((value) => value !== undefined)
  const scale = scaleOf(values, props.isWhole)
  const highest = Math.max(0, ...values)
  const whole = highest > scale.max ? scaleOf([highest], props.isWhole) : scale
  return (
    <Framed props={props} scale={whole}>
      <Stretched width={points.length}>
        {lines.map((values, i) => (
          <path class={`ln l${i + 1}`} d={pathOf(values, whole)} />
        ))}
      </Stretched>
      {points.map((point, i) => (
        <Place of={point} at={i} count={points.length} />
      ))}
    </Framed>
  )
}

const pathOf = (values: Line, scale: ChartScale): string =>
  line<number | undefined>(
    (_, i) => i + 0.5,
    (value) => Number(yOf(value ?? 0, scale).toFixed(1)),
  ).defined((value) => value !== undefined)([...values]) ?? ''
