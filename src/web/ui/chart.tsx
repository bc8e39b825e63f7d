/** Line and bar charts in SVG, with their table. */
import { scaleBand, scaleLinear, scalePoint } from 'd3-scale'
import { line } from 'd3-shape'
import type { Markup } from './jsx-runtime.ts'

/** One point in time: how it is called on the axis, its size, and that size in words. */
export type Point = {
  label: string
  value: number
  words: string
  /** Not whole yet, as today is: drawn paler. */
  open?: boolean
}

type ChartProps = {
  id: string
  /** Says the finding: "Spend per day, last 30 days. Highest $4.40 on Nov 19." */
  finding: string
  points: readonly Point[]
  /** What a column of the table is called. */
  head: readonly [label: string, value: string]
  /** How a value reads on the axis. */
  tick: (value: number) => string
}

/** Pixels. The width is fluid: horizontal positions are percentages. */
const height = 132
const below = 20
/** Of one figure of the axis. */
const digitWidth = 6.4

/** Bars from zero, and the same as a table. */
export function BarChart(props: ChartProps) {
  const band = scaleBand<number>()
    .domain(props.points.map((_, i) => i))
    .range([0, 100])
    .paddingInner(0.2)
  const y = valueScale(props.points)
  return (
    <Framed props={props} y={y}>
      {props.points.map(({ label, value, words, open }, i) => (
        <rect
          class={['b', open && 'part']}
          x={percent(band(i) ?? 0)}
          y={y(value).toFixed(1)}
          width={percent(band.bandwidth())}
          height={(height - y(value)).toFixed(1)}
        >
          <title>
            {label}: {words}
          </title>
        </rect>
      ))}
    </Framed>
  )
}

/** A line from zero, and the same as a table. */
export function LineChart(props: ChartProps) {
  const x = scalePoint<number>()
    .domain(props.points.map((_, i) => i))
    .range([0, 1000])
  const y = valueScale(props.points)
  const path = line<Point>(
    (_, i) => Math.round(x(i) ?? 0),
    ({ value }) => Number(y(value).toFixed(1)),
  )(props.points)
  return (
    <Framed props={props} y={y}>
      <svg
        x="0"
        y="0"
        width="100%"
        height={height}
        viewBox={`0 0 1000 ${height}`}
        preserveAspectRatio="none"
        aria-hidden="true"
      >
        <path class="ln" d={path ?? ''} />
      </svg>
    </Framed>
  )
}

type ValueScale = ReturnType<typeof valueScale>

const valueScale = (points: readonly Point[]) =>
  scaleLinear()
    .domain([0, Math.max(...points.map(({ value }) => value), 0) * 1.08 || 1])
    .range([height, 5])

const percent = (share: number): string => `${share.toFixed(2)}%`

type FramedProps = { props: ChartProps; y: ValueScale; children: Markup | Markup[] }

function Framed({ props, y, children }: FramedProps) {
  const ticks = y.ticks(3).map((value) => ({ at: y(value), text: props.tick(value) }))
  const axisWidth = Math.ceil(Math.max(...ticks.map(({ text }) => text.length)) * digitWidth) + 8
  return (
    <figure class="chartbox">
      <div class="plot">
        <svg
          class="chart"
          width="100%"
          height={height + below}
          role="img"
          aria-labelledby={`${props.id}-finding`}
        >
          <title id={`${props.id}-finding`}>{props.finding}</title>
          {ticks.map(({ at }) => (
            <line class="grid" x1="0" x2="100%" y1={at} y2={at} />
          ))}
          {children}
          <AxisLabels points={props.points} />
        </svg>
        <svg class="chart" width={axisWidth} height={height + below} aria-hidden="true">
          {ticks.map(({ at, text }) => (
            <text x="6" y={at + 3.5}>
              {text}
            </text>
          ))}
        </svg>
      </div>
      <details>
        <summary>As a table</summary>
        <Twin props={props} />
      </details>
    </figure>
  )
}

/** The first, the middle and the last label: more would not fit on a phone. */
function AxisLabels({ points }: { points: readonly Point[] }) {
  const [first, last] = [points.at(0), points.at(-1)]
  const middle = points.length > 4 ? points[Math.floor(points.length / 2)] : undefined
  const y = height + 15
  return (
    <>
      <text x="0" y={y}>
        {first?.label}
      </text>
      <text x="50%" y={y} text-anchor="middle">
        {middle?.label}
      </text>
      <text x="100%" y={y} text-anchor="end">
        {points.length > 1 ? last?.label : ''}
      </text>
    </>
  )
}

const Twin = ({ props: { head, points } }: { props: ChartProps }) => (
  <table class="bars twin">
    <thead>
      <tr>
        <th scope="col">{head[0]}</th>
        <th scope="col" class="num">
          {head[1]}
        </th>
      </tr>
    </thead>
    <tbody>
      {points.map(({ label, words }) => (
        <tr>
          <td>{label}</td>
          <td class="num">{words}</td>
        </tr>
      ))}
    </tbody>
  </table>
)
