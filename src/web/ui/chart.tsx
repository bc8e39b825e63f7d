/** Line and bar charts in SVG, with their table. */
import { scaleBand, scaleLinear, scalePoint } from 'd3-scale'
import { line } from 'd3-shape'
import { amountText } from './amount.tsx'
import type { Child } from './jsx-runtime.ts'

/** One point in time: how it is called on the axis, its size, and that size in words. */
export type Point = {
  label: string
  value: number
  words: string
  /** Not whole yet, as today is: drawn paler. */
  open?: boolean
  /** The page of its parts, which a click opens. */
  href?: string
  /** One part a series of the chart; they add up to the value. */
  parts?: readonly { value: number; words: string }[]
}

/** A layer of stacked bars: its name, and its sum in words. */
export type Series = { name: Child; words: string }

type ChartProps = {
  id: string
  /** Says the finding: "Spend per day, last 30 days. Highest $4.40 on Nov 19." */
  finding: string
  points: readonly Point[]
  /** What a column of the table is called. */
  head: readonly [label: string, value: string]
  /** How a value reads on the axis. */
  tick: (value: number) => string
  /** At most {@link seriesMax}, the lowest first. */
  series?: readonly Series[] | undefined
}

/** Series with a colour of their own; more could not be told apart. */
export const seriesMax = 6

/** Pixels. The width is fluid: horizontal positions are percentages. */
const height = 132
const below = 20
/** Of one figure of the axis. */
const digitWidth = 6.4

/** Bars with more neighbours than this are reached by keys in the table alone. */
const stopsMax = 31

/**
 * Bars from zero, stacked where there are series, and the same as a table. Each says its value
 * under the pointer and in focus, and leads to what it is made of.
 */
export function BarChart(props: ChartProps) {
  const band = scaleBand<number>()
    .domain(props.points.map((_, i) => i))
    .range([0, 100])
    .paddingInner(0.2)
  const y = valueScale(props.points)
  const width = band.bandwidth()
  const isStop = props.points.length <= stopsMax
  return (
    <Framed props={props} y={y}>
      {props.points.map((point, i) => (
        <Bar point={point} x={percent(band(i) ?? 0)} width={percent(width)} y={y} />
      ))}
      {props.points.map((point, i) => (
        <Over point={point} x={band(i) ?? 0} width={width} y={y} isStop={isStop} />
      ))}
    </Framed>
  )
}

type BarProps = { point: Point; x: string; width: string; y: ValueScale }

function Bar({ point: { value, open, parts }, x, width, y }: BarProps) {
  let below = 0
  const drawn = (parts ?? [{ value }]).map((part, i) => {
    const top = y(below + part.value)
    const bottom = y(below)
    below += part.value
    return (
      <rect
        class={['b', open && 'part', parts && `c${i + 1}`]}
        x={x}
        y={top.toFixed(1)}
        width={width}
        height={(bottom - top).toFixed(1)}
      />
    )
  })
  return <>{drawn}</>
}

type OverProps = { point: Point; x: number; width: number; y: ValueScale; isStop: boolean }

/** The layer for pointer and keys, above all bars, so that no bar covers its words. */
function Over({ point: { label, value, words, href }, x, width, y, isStop }: OverProps) {
  const said = saidAt(x, width)
  const top = y(value)
  const content = (
    <>
      <title>
        {label}: {words}
      </title>
      <rect class="hit" x={percent(x)} width={percent(width)} y="0" height={height} />
      <rect
        class="lit"
        x={percent(x)}
        width={percent(width)}
        y={top.toFixed(1)}
        height={(height - top).toFixed(1)}
      />
      <text class="said" x={said.x} text-anchor={said.anchor} y={Math.max(11, top - 6).toFixed(1)}>
        {label}: {words}
      </text>
    </>
  )
  if (href === undefined) return <g tabindex={isStop ? '0' : undefined}>{content}</g>
  return (
    <a href={href} tabindex={isStop ? undefined : '-1'}>
      {content}
    </a>
  )
}

/** Inside the chart also at its edges. */
function saidAt(x: number, width: number) {
  if (x < 20) return { x: percent(x), anchor: 'start' }
  if (x > 80) return { x: percent(x + width), anchor: 'end' }
  return { x: percent(x + width / 2), anchor: 'middle' }
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
    .range([height, 16])

const percent = (share: number): string => `${share.toFixed(2)}%`

type FramedProps = { props: ChartProps; y: ValueScale; children: Child }

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
      {props.series ? <Legend series={props.series} /> : null}
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

/** Dollars beside a grid line: `$2`, `$0.50`. */
export const dollarTick = (value: number): string =>
  Number.isInteger(value) ? `$${value}` : amountText(BigInt(Math.round(value * 1e9)))

const Legend = ({ series }: { series: readonly Series[] }) => (
  <ul class="legend bare" aria-label="Colours">
    {series.map(({ name, words }, i) => (
      <li>
        <svg viewBox="0 0 10 10" aria-hidden="true">
          <rect class={`c${i + 1}`} width="10" height="10" />
        </svg>
        {name} <small class="quiet">{words}</small>
      </li>
    ))}
  </ul>
)

const Twin = ({ props: { head, points, series = [] } }: { props: ChartProps }) => (
  <div class="twinscroll" tabindex={series.length > 0 ? '0' : undefined}>
    <table class="bars twin">
      <thead>
        <tr>
          {[head[0], head[1], ...series.map(({ name }) => name)].map((name, i) => (
            <th scope="col" class={i > 0 ? 'num' : undefined}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {points.map(({ label, words, href, parts = [] }) => (
          <tr>
            <td>{href === undefined ? label : <a href={href}>{label}</a>}</td>
            <td class="num">{words}</td>
            {parts.map((part) => (
              <td class="num">{part.words}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)
