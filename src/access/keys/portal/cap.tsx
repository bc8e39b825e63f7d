/** The panels of a key's cap: its use, past windows, and the caps of the keys above. */

import { max } from '../../../kernel/money.ts'
import { windowEnd } from '../../../ledger/window.ts'
import { Amount, amountText } from '../../../web/ui/amount.tsx'
import { BarChart } from '../../../web/ui/chart.tsx'
import { dollarTick } from '../../../web/ui/chart-frame.tsx'
import { Facts, Pad, Panel } from '../../../web/ui/panel.tsx'
import { runsBetween } from '../../../web/ui/runs-href.ts'
import { type Column, Table } from '../../../web/ui/table.tsx'
import { dateText, When } from '../../../web/ui/when.tsx'
import { windowOf } from '../key-view.ts'
import { CapMeter, type DetailView, keyPath, StateBadge, windowWords } from './key-state.tsx'

type Props = { view: DetailView }

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
            ['Spent', <Amount nusd={spent} as="list" round="up" />],
            ['Held by runs now', <Amount nusd={held} as="list" round="up" />],
            ['Left', <Amount nusd={key.capLimit - spent - held} as="list" round="down" />],
            ['Resets', end === null ? 'Never' : <When at={end} now={now} />],
          ]}
        />
        {key.capWindow === 'lifetime' ? null : <History view={view} />}
      </Pad>
    </Panel>
  )
}

/** The spending of the last windows, the current one last. */
function History({ view: { shown, history, now } }: Props) {
  const { capWindow } = shown.key
  const oldestFirst = [...history].reverse()
  const sums = oldestFirst.map(({ window }) => window?.spent ?? 0n)
  const most = amountText(sums.reduce((most, sum) => max(most, sum), 0n))
  return (
    <div class="stack">
      <h3>{capWindow === 'lifetime' ? 'Spent' : `Spent per ${capWindow}, in UTC`}</h3>
      <BarChart
        id="spend"
        finding={`Spent ${windowWords[capWindow]}, with the keys below. At most ${most}.`}
        points={oldestFirst.map(({ start }, i) => ({
          label: dateText(start).replace(/, \d+$/, ''),
          value: Number(sums[i] ?? 0n) / 1e9,
          words: amountText(sums[i] ?? 0n),
          open: i === oldestFirst.length - 1,
          href: runsBetween(start, oldestFirst[i + 1]?.start ?? now + dayMs, {
            key: shown.key.id,
          }),
        }))}
        head={[capWindow === 'day' ? 'Day (UTC)' : 'From (UTC)', 'Spent']}
        tick={dollarTick}
      />
    </div>
  )
}

const dayMs = 86_400_000

/** The caps that a run must fit under: this key's first, then those above. */
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
      title="Limits"
      foot={<span>A run needs room under each of these caps and in your balance.</span>}
    >
      <Table caption="This key and the keys above it" columns={chainColumns(now)} rows={rows} />
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
  { head: 'State', at: 'state', cell: ({ shown }) => <StateBadge shown={shown} now={now} /> },
  { head: 'Spent of cap', at: 'cost', cell: ({ shown }) => <CapMeter shown={shown} /> },
  {
    head: 'Expires',
    kind: 'optional',
    at: 'when',
    cell: ({ shown: { key } }) => <When at={key.expiresAt} now={now} />,
  },
]
