/** The one figure of the page of usage, and the sentence that puts it in its place. */
import type { Millis } from '../../../kernel/clock.ts'
import { daysBetween } from '../../../kernel/zone.ts'
import { Amount } from '../../../web/ui/amount.tsx'
import type { Child } from '../../../web/ui/jsx-runtime.ts'
import { Figure } from '../../../web/ui/panel.tsx'
import { Spark } from '../../../web/ui/spark.tsx'
import { type SummedMetric, sizeOf, waitsOf } from '../metric.ts'
import { type Report, stepValues } from '../report.ts'
import { onStep, topOf } from './usage-chart.tsx'
import { countText, daysText, shortCount, valueText, waitText } from './usage-words.ts'

type FigureProps = { of: Report; now: Millis }

export const daysOf = ({ zone, from, to }: Pick<Report, 'zone' | 'from' | 'to'>): number =>
  daysBetween(zone, from, to - 1) + 1

export const UsageFigure = ({ of, now }: FigureProps) =>
  of.metric === 'first_token' ? (
    <WaitFigure of={of} />
  ) : (
    <SumFigure of={of} now={now} metric={of.metric} />
  )

function SumFigure({ of, now, metric }: FigureProps & { metric: SummedMetric }) {
  const days = daysText(daysOf(of))
  const values = stepValues(of, metric)
  const passed = of.steps.starts.filter((at) => at <= now).length
  const facts = [...(metric === 'spend' ? [] : factsOf(of, metric)), comparison(of, metric, days)]
  const top = topOf(values)
  return (
    <Figure
      label={{ spend: days, requests: `Requests in ${days}`, tokens: `Tokens in ${days}` }[metric]}
      big={<Big of={of} metric={metric} />}
      beside={
        of.totals.runs === 0 ? null : (
          <Spark
            title={`Added up ${of.steps.grain} by ${of.steps.grain}, beside the ${days} before`}
            values={addedUp(values.slice(0, passed))}
            before={addedUp(stepValues(of.former, metric)).slice(0, passed)}
          />
        )
      }
    >
      <p>
        {facts.map((fact, i) => (
          <>
            {i > 0 ? ' · ' : null}
            {fact}
          </>
        ))}
        {top === undefined || values.length === 1 ? null : (
          <>
            {' '}
            · <b>{valueText(metric, values[top] ?? 0)}</b> of it {onStep(of, top)}
          </>
        )}
      </p>
    </Figure>
  )
}

function Big({ of: { totals }, metric }: { of: Report; metric: SummedMetric }) {
  if (metric === 'spend') return <Amount nusd={totals.cost} as="sum" />
  const size = sizeOf(metric, totals)
  const text = metric === 'tokens' ? shortCount(size) : countText(size)
  return (
    <data value={String(size)} title={countText(size)}>
      {text}
    </data>
  )
}

function factsOf({ totals }: Report, metric: SummedMetric): Child[] {
  if (metric === 'requests') {
    const share = totals.runs === 0 ? undefined : percentText(totals.succeeded / totals.runs)
    return share === undefined ? [] : [<Fact what={share}> succeeded</Fact>]
  }
  const { inputUnits, cachedUnits, outputUnits } = totals
  const cached = inputUnits === 0 ? 0 : cachedUnits / inputUnits
  return [
    <Fact what={shortCount(inputUnits)}>
      {' '}
      in{cached > 0 ? <>, {percentText(cached)} of them cached</> : null}
    </Fact>,
    <Fact what={shortCount(outputUnits)}> out</Fact>,
  ]
}

const Fact = ({ what, children }: { what: Child; children?: Child }) => (
  <>
    <b>{what}</b>
    {children}
  </>
)

/** `18% more than the 30 days before`. */
function comparison({ totals, former }: Report, metric: SummedMetric, days: string): Child {
  const [now, before] = [sizeOf(metric, totals), sizeOf(metric, former.totals)]
  const period = days === '1 day' ? 'the day before' : `the ${days} before`
  if (before === 0) return now === 0 ? <>Nothing used</> : <>nothing in {period}</>
  const change = now / before - 1
  const share = Math.round(Math.abs(change) * 100)
  if (share === 0) return <>as much as {period}</>
  // A multiple is read more easily than a large percentage.
  const words = change > 4 ? `${Math.round(now / before)} times` : `${share}%`
  return (
    <Fact what={change > 4 ? words : `${words} ${change > 0 ? 'more' : 'less'}`}>
      {change > 4 ? ' that of ' : ' than '}
      {period}
    </Fact>
  )
}

const percentText = (share: number): string =>
  share === 1 || share === 0 ? `${share * 100}%` : `${(Math.floor(share * 1000) / 10).toFixed(1)}%`

function addedUp(values: readonly number[]): number[] {
  let sum = 0
  return values.map((value) => {
    sum += value
    return sum
  })
}

function WaitFigure({ of }: { of: Report }) {
  const [median, , late] = waitsOf(of.waits)
  const [before] = waitsOf(of.former.waits)
  const days = daysText(daysOf(of))
  const perStep = of.steps.starts.map((at) => of.rows.find(({ day }) => day === at)?.waits)
  const values = perStep.flatMap((waits) => (waits && waitsOf(waits)[0]) ?? [])
  return (
    <Figure
      label={`Median to the first token in ${days}`}
      big={
        median === undefined ? 'No chat' : <data value={String(median)}>{waitText(median)}</data>
      }
      beside={
        values.length < 2 ? null : <Spark title="Median to the first token" values={values} />
      }
    >
      <p>
        {late === undefined ? (
          'Chats are timed from their start to their first token.'
        ) : (
          <>
            <b>5%</b> wait longer than <b>{waitText(late)}</b>
            {before === undefined ? null : (
              <>
                {' '}
                · <b>{waitText(before)}</b> in the {days} before
              </>
            )}
          </>
        )}
      </p>
    </Figure>
  )
}
