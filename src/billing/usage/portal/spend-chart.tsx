/** The chart of a usage report: spending by day, stacked by the chosen group. */
import type { Millis } from '../../../kernel/clock.ts'
import type { Nusd } from '../../../kernel/money.ts'
import { amountText, shortAmountText } from '../../../web/ui/amount.tsx'
import { BarChart, dollarTick, type Series } from '../../../web/ui/chart.tsx'
import { dateText, dateWords } from '../../../web/ui/when.tsx'
import type { Report } from '../report.ts'
import type { Stack } from '../stack.ts'
import { dayOf } from '../usage.ts'
import { toDate } from '../usage-view.ts'

export function SpendChart({ of, now }: { of: Report; now: number }) {
  const { days, from, to, stack } = of
  const top = days.reduce((most, day) => (day.cost > most.cost ? day : most), {
    day: from,
    cost: 0n,
  })
  const highest =
    top.cost === 0n
      ? 'Nothing was spent.'
      : `Highest ${shortAmountText(top.cost)} on ${labelOf(top.day)}.`
  const edgeText = yearOf(from) === yearOf(now) ? labelOf : dateText
  const range = `${edgeText(from)} to ${edgeText(to - 1)}`
  const title = stack ? `Spend per day, by ${stack.by}` : 'Spend per day'
  return (
    <div class="stack">
      <div class="row apart">
        <h2>{title}</h2>
        <small class="quiet">{top.cost === 0n ? range : highest}</small>
      </div>
      <BarChart
        id="spend"
        finding={`${title}, ${range}. ${highest}`}
        points={days.map(({ day, cost }) => ({
          label: day === dayOf(now) ? 'Today' : labelOf(day),
          value: Number(stackedOf(stack, day, cost)) / 1e9,
          words: amountText(cost),
          open: day === dayOf(now),
          href: `/dashboard/runs?${new URLSearchParams({ from: toDate(day), to: toDate(day) })}`,
          ...(stack && { parts: partsOf(stack, day) }),
        }))}
        head={['Day', 'Spend']}
        tick={dollarTick}
        series={stack?.layers.map((layer) => seriesOf(stack, layer))}
      />
      {stack?.by === 'tag' ? (
        <small class="quiet">A run with two tags is in both of their bars.</small>
      ) : null}
    </div>
  )
}

/** How high a bar is: a run with two tags is in it twice. */
const stackedOf = (stack: Stack | undefined, day: Millis, cost: Nusd): Nusd =>
  stack?.days.get(day)?.reduce((sum, part) => sum + part, 0n) ?? cost

const partsOf = ({ layers, days }: Stack, day: Millis) =>
  layers.map((_, i) => {
    const cost = days.get(day)?.[i] ?? 0n
    return { value: Number(cost) / 1e9, words: amountText(cost) }
  })

function seriesOf({ by, keyNames }: Stack, { group, cost }: Stack['layers'][number]): Series {
  const words = shortAmountText(cost)
  if (group === 'other') return { name: 'Others', words }
  if (by === 'tag') {
    return { name: group.tag ? `${group.tag.name}:${group.tag.value}` : 'No tag', words }
  }
  const { keyId = '', model = '' } = group
  return { name: by === 'key' ? (keyNames.get(keyId) ?? keyId) : model, words }
}

const yearOf = (at: number): number => new Date(at).getUTCFullYear()

const labelOf = dateWords({ timeZone: 'UTC', month: 'short', day: 'numeric' })
