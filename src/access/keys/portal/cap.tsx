import { max } from '../../../kernel/money.ts'
import { windowEnd } from '../../../ledger/window.ts'
import { Amount, amountText } from '../../../web/ui/amount.tsx'
import { BarChart } from '../../../web/ui/chart.tsx'
import { Facts, Pad, Panel } from '../../../web/ui/panel.tsx'
import { type Column, Table } from '../../../web/ui/table.tsx'
import { dateText, When } from '../../../web/ui/when.tsx'
import { windowOf } from '../key-view.ts'
import type { DetailView } from './key-detail.tsx'
import { CapMeter, keyPath, StateBadge, windowWords } from './key-state.tsx'

type Props = { view: DetailView }

/** How much of its cap is used, and what its windows before have spent. */
export function CapPanel({ view }: Props) {
  const { shown, now } = view
  const { key, window } = shown
  const spent = window?.spent ?? 0n
  const held = window?.held ?? 0n
  const end = windowEnd(key.capWindow, now)
  return (
    <Panel id="cap" title="Cap">
      <Pad>
        <CapMeter shown={shown} />
        <Facts
          of={[
            ['Spent', <Amount nusd={spent} />],
            ['Held by runs now', <Amount nusd={held} />],
            ['Left', <Amount nusd={key.capLimit - spent - held} />],
            ['Starts again', end === null ? 'Never' : <When at={end} now={now} />],
          ]}
        />
        {key.capWindow === 'lifetime' ? null : <History view={view} />}
      </Pad>
    </Panel>
  )
}

/** What each of the last windows spent, this one last. */
function History({ view: { shown, history } }: Props) {
  const { capWindow } = shown.key
  const oldestFirst = [...history].reverse()
  const sums = oldestFirst.map(({ window }) => window?.spent ?? 0n)
  const most = sums.reduce((most, sum) => max(most, sum), 0n)
  return (
    <BarChart
      id="spend"
      finding={`Spent ${windowWords[capWindow]}, with the keys below. At most ${amountText(most)}.`}
      points={oldestFirst.map(({ start }, i) => ({
        label: dateText(start).replace(/, \d+$/, ''),
        value: Number(sums[i] ?? 0n) / 1e9,
        words: amountText(sums[i] ?? 0n),
        open: i === oldestFirst.length - 1,
      }))}
      head={[capWindow === 'day' ? 'Day' : 'From', 'Spent']}
      tick={(value) => `$${value}`}
    />
  )
}

/** Each key that a run has to have room in, this one first; of all the least holds. */
export function ChainPanel({ view: { shown, windows, now } }: Props) {
  const { chain } = shown
  if (chain.length === 1) return null
  const rows: Link[] = chain.map((key, depth) => ({
    shown: {
      key,
      chain: chain.slice(depth),
      window: windowOf(key, windows, now),
      overlapUntil: null,
    },
    depth,
  }))
  return (
    <Panel
      id="chain"
      title="What binds it"
      foot={<span>A run needs room in every one of these, and in your balance.</span>}
    >
      <Table caption="The key and those above it" columns={chainColumns(now)} rows={rows} />
    </Panel>
  )
}

type Link = { shown: DetailView['shown']; depth: number }

const chainColumns = (now: number): Column<Link>[] => [
  {
    head: 'Key',
    cell: ({ shown: { key }, depth }) =>
      depth === 0 ? (
        <strong class="name" dir="auto" title={key.name}>
          {key.name}
        </strong>
      ) : (
        <a class="name" href={keyPath(key.id)}>
          {key.name}
        </a>
      ),
  },
  { head: 'State', cell: ({ shown }) => <StateBadge shown={shown} now={now} /> },
  { head: 'Spent of cap', cell: ({ shown }) => <CapMeter shown={shown} /> },
  {
    head: 'Expires',
    kind: 'optional',
    cell: ({ shown: { key } }) => <When at={key.expiresAt} now={now} />,
  },
]
