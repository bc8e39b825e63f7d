/** The chart of a usage report: a metric in steps, stacked by the chosen group. */
import type { Millis } from '../../../kernel/clock.ts'
import { BarChart, LineChart } from '../../../web/ui/chart.tsx'
import type { Point, Series } from '../../../web/ui/chart-frame.tsx'
import { runsHref } from '../../../web/ui/runs-href.ts'
import { endOfStep, stepAt } from '../chart-steps.ts'
import { type SummedMetric, waitShares, waitsOf } from '../metric.ts'
import { type Report, stepValues } from '../report.ts'
import type { Stack } from '../stack.ts'
import {
  dayAndYear,
  daysText,
  exactText,
  groupText,
  hourMark,
  stepText,
  tickText,
  valueText,
  waitText,
} from './usage-words.ts'

type ChartProps = { of: Report; now: Millis; daysShown: number; keyId: string | undefined }

export const UsageChart = (props: ChartProps) =>
  props.of.metric === 'first_token' ? (
    <WaitChart {...props} />
  ) : (
    <SumChart {...props} metric={props.of.metric} />
  )

const metricNames = { spend: 'Spend', requests: 'Requests', tokens: 'Tokens' } as const

/** A sum: `Spend per day, by model, Oct 29 to Nov 27. Highest $14.20 on Nov 16.` */
function SumChart({ of, now, daysShown, keyId, metric }: ChartProps & { metric: SummedMetric }) {
  const { steps, stack } = of
  const values = stepValues(of, metric)
  const before = stepValues(of.former, metric)
  const bars = values.map((value, i) => stackedAt(stack, i) ?? value)
  const title = `${metricNames[metric]} per ${steps.grain}`
  const finding = [
    title,
    ...(stack ? [`by ${stack.by}`] : []),
    `${rangeText(of, now)}. ${highestText(of, metric, values)}`,
  ].join(', ')
  const place = placer(of, now, keyId)
  return (
    <BarChart
      id="usage-chart"
      finding={finding}
      points={values.map((value, i) => ({
        ...place(i),
        value: bars[i] ?? value,
        words: valueText(metric, value),
        exact: exactText(metric, value),
        ...(before.some((one) => one > 0) ? { before: before[i] ?? 0 } : {}),
        ...(stack ? { parts: partsAt(stack, metric, i) } : {}),
      }))}
      head={[headOf(of), metricNames[metric]]}
      tick={(value) => tickText(metric, value)}
      isWhole={metric !== 'spend'}
      series={stack?.layers.map((layer) => seriesOf(stack, metric, layer))}
      before={before.some((one) => one > 0) ? `${daysText(daysShown)} before` : undefined}
    />
  )
}

/** How high a bar is: a run with two tags is in it twice. */
const stackedAt = (stack: Stack | undefined, i: number): number | undefined =>
  stack?.layers.reduce((sum, { values }) => sum + (values[i] ?? 0), 0)

const partsAt = ({ layers }: Stack, metric: SummedMetric, i: number) =>
  layers.map(({ values }) => ({
    value: values[i] ?? 0,
    words: exactText(metric, values[i] ?? 0),
  }))

const seriesOf = (
  stack: Stack,
  metric: SummedMetric,
  { group, total }: Stack['layers'][number],
): Series => ({
  name: groupText(stack, group),
  words: valueText(metric, total),
})

/** Times to the first token, as three lines. */
function WaitChart({ of, now, keyId }: ChartProps) {
  const { steps } = of
  const waits = steps.starts.map((at) => of.rows.find(({ day }) => day === at)?.waits)
  const values = waits.map((one) => (one ? waitsOf(one) : []))
  const place = placer(of, now, keyId)
  const range = rangeText(of, now)
  return (
    <LineChart
      id="usage-chart"
      finding={`Time to the first token per ${steps.grain}: median, p90 and p95, ${range}.`}
      points={values.map(([median, , late], i) => ({
        ...place(i),
        value: median ?? 0,
        words:
          median === undefined
            ? 'no chat'
            : `${waitText(median)}, p95 ${late === undefined ? '' : waitText(late)}`,
        exact: median === undefined ? '–' : waitText(median),
        parts: waitShares.map((_, k) => {
          const wait = values[i]?.[k]
          return { value: wait ?? 0, words: wait === undefined ? '–' : waitText(wait) }
        }),
      }))}
      lines={waitShares.map((_, k) => values.map((one) => one[k]))}
      head={[headOf(of), 'Wait']}
      tick={(value) => tickText('first_token', value)}
      isWhole
      series={waitsOf(of.waits).map((wait, k) => ({
        name: waitShares[k]?.[0] ?? '',
        words: wait === undefined ? undefined : waitText(wait),
      }))}
    />
  )
}

const headOf = ({ steps: { grain } }: Report): string =>
  grain === 'hour' ? 'Hour' : grain === 'day' ? 'Day' : 'Week'

export const rangeText = ({ from, to, zone }: Report, now: Millis): string =>
  `${dayAndYear(zone, from, now)} to ${dayAndYear(zone, to - 1, now)}`

/** The place of a step: its name, its link, and whether it is still going on. */
function placer({ steps }: Report, now: Millis, keyId: string | undefined) {
  const present = stepAt(steps, now)
  return (i: number): Pick<Point, 'label' | 'open' | 'href'> & { mark?: string } => {
    const { zone } = steps
    const period = { from: steps.starts[i] ?? 0, to: endOfStep(steps, i), zone }
    const isToday = i === present && steps.grain === 'day'
    const mark = steps.grain === 'hour' ? hourMark(steps, i) : undefined
    return {
      label: isToday ? 'Today' : stepText(steps, i),
      open: i === present,
      href: runsHref(period, { key: keyId }),
      ...(mark === undefined ? {} : { mark }),
    }
  }
}

/** `Highest $14.20 on Nov 16.` */
export function highestText(of: Report, metric: SummedMetric, values: readonly number[]): string {
  const top = topOf(values)
  if (top === undefined) return metric === 'spend' ? 'Nothing was spent.' : 'Nothing ran.'
  return `Highest ${valueText(metric, values[top] ?? 0)} ${onStep(of, top)}.`
}

/** `on Nov 16`, `at Thu 15:00`, `in Nov 16 to 22`. */
export const onStep = ({ steps }: Report, i: number): string =>
  `${{ hour: 'at', day: 'on', week: 'in' }[steps.grain]} ${stepText(steps, i)}`

/** The first of the highest steps; undefined where all are empty. */
export function topOf(values: readonly number[]): number | undefined {
  const most = Math.max(0, ...values)
  return most === 0 ? undefined : values.indexOf(most)
}
