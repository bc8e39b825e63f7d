/** The frame of a chart: lines, axis, legend, and the same as a table. */
import { amountText } from './amount.tsx'
import { type ChartScale, namedEvery } from './chart-scale.ts'
import type { Child } from './jsx-runtime.ts'

/** One point in time: how it is called on the axis, its size, and that size in words. */
export type Point = {
  label: string
  value: number
  words: string
  /** Its words in the table, where they say more. */
  exact?: string
  /** Not whole yet, as today is: drawn paler. */
  open?: boolean
  /** The page of its parts, which a click opens. */
  href?: string
  /** One part a series of the chart; they add up to the value. */
  parts?: readonly { value: number; words: string }[]
  /** The size at the same place of the period before. */
  before?: number
  /** Its name below the chart, where the chart does not choose by itself. */
  mark?: string
}

/** A layer of stacked bars, or a line: its name, and its sum in words. */
export type Series = { name: Child; words?: string | undefined }

export type ChartProps = {
  id: string
  /** Says the finding: "Spend per day, last 30 days. Highest $4.40 on Nov 19." */
  finding: string
  points: readonly Point[]
  /** The names of the columns of the table. */
  head: readonly [label: string, value: string]
  /** How a value reads on the axis. */
  tick: (value: number) => string
  /** At most {@link seriesMax}, the lowest first. */
  series?: readonly Series[] | undefined
  /** The name of the period before, where points tell it: "30 days before". */
  before?: string | undefined
  /** Whether the steps of the axis are whole numbers. */
  isWhole?: boolean | undefined
}

/** Series with a colour of their own, and one for all others. */
export const seriesMax = 6

/** Pixels. The width is fluid: horizontal positions are percentages. */
export const height = 240
export const top = 34
export const bottom = 216
/** Of one figure of the axis. */
const digitWidth = 7.2

export const yOf = (value: number, { max }: ChartScale): number =>
  bottom - (Math.min(value, max * 1.02) / max) * (bottom - top)

export const percent = (share: number): string => `${share.toFixed(2)}%`

type FramedProps = {
  props: ChartProps
  scale: ChartScale
  /** The bars, or the lines. */
  children: Child
}

export function Framed({ props, scale, children }: FramedProps) {
  const lines = scale.ticks.map((value) => ({ y: yOf(value, scale), text: props.tick(value) }))
  const axisWidth = Math.ceil(Math.max(...lines.map(({ text }) => text.length)) * digitWidth) + 12
  const titleId = `${props.id}-finding`
  return (
    <figure class="chartbox">
      <div class="plot">
        {/* biome-ignore lint/a11y/useSemanticElements: no fieldset stands in an SVG */}
        <svg class="chart" width="100%" height={height} role="group" aria-labelledby={titleId}>
          <title id={titleId}>{props.finding}</title>
          {lines.map(({ y }, i) => (
            <line class={i === 0 ? 'base' : 'grid'} x1="0" x2="100%" y1={y} y2={y} />
          ))}
          {children}
          <Names points={props.points} />
        </svg>
        <svg class="chart" width={axisWidth} height={height} aria-hidden="true">
          {lines.map(({ y, text }, i) => (
            <text x="100%" y={(y + 4).toFixed(1)} text-anchor="end">
              {i === 0 ? '0' : text}
            </text>
          ))}
        </svg>
      </div>
      <Legend series={props.series ?? []} before={props.before} />
      <details>
        <summary>As a table</summary>
        <Twin props={props} />
      </details>
    </figure>
  )
}

/** Names below the bars; on a phone every second of them. */
function Names({ points }: { points: readonly Point[] }) {
  const isMarked = points.some(({ mark }) => mark !== undefined)
  const every = namedEvery(points.length)
  const named = points.flatMap(({ label, mark }, i) => {
    const text = isMarked ? mark : i % every === 0 ? label : undefined
    return text === undefined ? [] : [{ i, text }]
  })
  return (
    <>
      {named.map(({ i, text }, nth) => (
        <text
          class={nth % 2 === 1 ? 'minor' : undefined}
          x={i === 0 ? '0' : percent(((i + 0.5) / points.length) * 100)}
          y="234"
          text-anchor={i === 0 ? 'start' : 'middle'}
        >
          {text}
        </text>
      ))}
    </>
  )
}

type LegendProps = { series: readonly Series[]; before: string | undefined }

const Legend = ({ series, before }: LegendProps) =>
  series.length === 0 && before === undefined ? null : (
    <ul class="legend bare" aria-label="Colours">
      {series.map(({ name, words }, i) => (
        <li>
          <svg viewBox="0 0 10 10" aria-hidden="true">
            <rect class={`k${i + 1}`} width="10" height="10" />
          </svg>
          {name} {words === undefined ? null : <small>{words}</small>}
        </li>
      ))}
      {before === undefined ? null : (
        <li>
          <svg viewBox="0 0 12 10" aria-hidden="true">
            <path class="was" d="M0 5H12" />
          </svg>
          {before}
        </li>
      )}
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
        {points.map(({ label, words, exact, href, parts = [] }) => (
          <tr>
            <td>{href === undefined ? label : <a href={href}>{label}</a>}</td>
            <td class="num">{exact ?? words}</td>
            {parts.map((part) => (
              <td class="num">{part.words}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)

/** Dollars beside a grid line: `$2`, `$0.50`. */
export const dollarTick = (value: number): string =>
  Number.isInteger(value)
    ? `$${value.toLocaleString('en-US')}`
    : amountText(BigInt(Math.round(value * 1e9)))
