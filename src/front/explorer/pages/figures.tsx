/** The explorer's figures, charts and anchors. */
import { chainId } from '../../../kernel/chain.ts'
import { toHex } from '../../../kernel/hex.ts'
import { Amount } from '../../../web/ui/amount.tsx'
import { BarChart } from '../../../web/ui/chart.tsx'
import { Tabs } from '../../../web/ui/filters.tsx'
import { Hash } from '../../../web/ui/hash.tsx'
import { Figures, Pad, Panel } from '../../../web/ui/panel.tsx'
import { type Column, Table } from '../../../web/ui/table.tsx'
import { Tape } from '../../../web/ui/tape.tsx'
import { dateWords, durationText } from '../../../web/ui/when.tsx'
import type { AnchorTape } from '../overview.ts'
import { crowdMin, type Stats, type Window, windows } from '../stats.ts'
import { explorerPath, hrefOf, type Place } from './place.ts'

const windowNames: Record<Window, string> = {
  '24h': '24 hours',
  '7d': '7 days',
  '30d': '30 days',
  all: 'All time',
}

const inWords = (window: Window): string =>
  window === 'all' ? 'since the first run' : `in ${windowNames[window]}`

export const Windows = ({ here }: { here: Place }) => (
  <Tabs
    label="Figures of"
    tabs={windows.map((window) => ({
      href: hrefOf({ ...here, window }),
      label: windowNames[window],
    }))}
    here={hrefOf(here)}
  />
)

export const StatFigures = ({ stats }: { stats: Stats }) => (
  <Figures
    label="Figures"
    of={[
      [<Count value={stats.receipts} />, 'receipts in the log'],
      [<Share bps={stats.anchoredShareBps} />, `anchored on chain ${chainId}`],
      [<Count value={stats.runs} />, `runs ${inWords(stats.window)}`],
      [<Cents nusd={stats.volume} />, 'charged on public receipts'],
      stats.medianFirstTokenMs === undefined
        ? [<>–</>, 'time to first token: too few runs']
        : [<Median ms={stats.medianFirstTokenMs} />, 'median time to first token'],
    ]}
  />
)

const Count = ({ value }: { value: number }) => (
  <data value={String(value)}>{value.toLocaleString('en-US')}</data>
)

const Share = ({ bps }: { bps: number | undefined }) =>
  bps === undefined ? <>–</> : <data value={String(bps / 10_000)}>{percentText(bps)}</data>

const percentText = (bps: number): string => `${(bps / 100).toFixed(bps % 100 === 0 ? 0 : 2)}%`

/** Rounds down to cents from one cent on: a figure of a tile has no room for more. */
function Cents({ nusd }: { nusd: bigint }) {
  const cent = 10_000_000n
  return <Amount nusd={nusd >= cent ? (nusd / cent) * cent : nusd} />
}

const Median = ({ ms }: { ms: number }) => (
  <data value={String(ms)}>{ms.toLocaleString('en-US')} ms</data>
)

export function RunsChart({ stats }: { stats: Stats }) {
  const { series, seriesBy, window, runs, succeeded } = stats
  const top = series.reduce((most, one) => (one.runs > most.runs ? one : most), series[0] ?? none)
  const label = labels[seriesBy]
  const rate = Math.floor((succeeded * 10_000) / runs)
  const highest = top.runs === 0 ? 'No runs.' : `Highest ${wordsOf(top.runs)}, ${label(top.at)}.`
  return (
    <Panel
      id="runs"
      title={`Runs per ${seriesBy}`}
      aside={
        <small class="quiet">
          {runs === 0
            ? 'Includes private runs.'
            : `${percentText(rate)} succeeded, including private runs.`}
        </small>
      }
    >
      <Pad>
        <BarChart
          id="runs-chart"
          finding={`Runs per ${seriesBy}, ${windowNames[window].toLowerCase()}. ${highest}`}
          points={series.map(({ at, runs }, i) => ({
            label: label(at),
            value: runs,
            words: wordsOf(runs),
            open: i === series.length - 1,
          }))}
          head={[
            seriesBy === 'hour' ? 'Hour (UTC)' : `${seriesBy === 'day' ? 'Day' : 'Month'} (UTC)`,
            'Runs',
          ]}
          tick={(value) => value.toLocaleString('en-US')}
          isWhole
        />
      </Pad>
    </Panel>
  )
}

const none = { at: 0, runs: 0, succeeded: 0 }

const wordsOf = (runs: number): string =>
  runs === 1 ? '1 run' : `${runs.toLocaleString('en-US')} runs`

const utc = { timeZone: 'UTC' } as const
const labels = {
  hour: dateWords({
    ...utc,
    month: 'short',
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  }),
  day: dateWords({ ...utc, month: 'short', day: 'numeric' }),
  month: dateWords({ ...utc, month: 'short', year: 'numeric' }),
}

type TopModel = Stats['topModels'][number]

export const TopModels = ({ stats }: { stats: Stats }) => (
  <Panel
    id="models"
    title="Top models"
    aside={<small class="quiet">Of public receipts. Charges from {crowdMin} runs on.</small>}
  >
    {stats.topModels.length === 0 ? (
      <Pad>
        <p class="quiet">No public receipts in this period.</p>
      </Pad>
    ) : (
      <Table caption="Models" columns={modelColumns} rows={stats.topModels} />
    )}
  </Panel>
)

const modelColumns: readonly Column<TopModel>[] = [
  { head: 'Model', cell: ({ model }) => <span class="name">{model}</span> },
  {
    head: 'Charged',
    kind: 'number',
    at: 'cost',
    cell: ({ volume }) =>
      volume === undefined ? <span class="quiet">–</span> : <Amount nusd={volume} />,
  },
  { head: 'Runs', kind: 'number', at: 'when', cell: ({ runs }) => wordsOf(runs) },
]

/** The anchors as bars, as high as the number of leaves that each adds. */
export function AnchorsPanel({ tape, now }: { tape: AnchorTape; now: number }) {
  const { anchors, waiting, isOn, policy } = tape
  const newest = anchors.at(-1)
  const minutes = durationText(policy.maxDelayMs)
  const receipts = policy.minReceipts.toLocaleString('en-US')
  return (
    <Panel
      id="anchors"
      title="Anchors"
      aside={
        <small class="quiet">
          {isOn
            ? `One root every ${minutes} or ${receipts} receipts. Bar height: new leaves.`
            : 'Anchoring is off.'}
        </small>
      }
      foot={
        <>
          {newest ? (
            <span>
              Last root <Hash value={toHex(newest.root)} />
              {newest.blockNumber === null
                ? ', pending'
                : `, block ${newest.blockNumber.toLocaleString('en-US')}`}
              , {leavesText(newest.size - newest.prevSize)}
            </span>
          ) : (
            <span>No anchors yet.</span>
          )}
          <span>{nextText(tape, now)}</span>
        </>
      }
    >
      {newest || waiting > 0 ? (
        <Tape
          label={`Last ${anchors.length} anchors`}
          bars={[
            ...anchors.map(({ id, size, prevSize }) => {
              const value = size - prevSize
              const words = `Anchor of ${size.toLocaleString('en-US')}: ${leavesText(value)}`
              return { value, href: anchorHref(id), words }
            }),
            {
              value: waiting,
              href: '/v1/anchors',
              words: `Waiting: ${leavesText(waiting)}`,
              open: true,
            },
          ]}
        />
      ) : null}
    </Panel>
  )
}

const anchorHref = (id: string): string => `${explorerPath}?q=${encodeURIComponent(id)}`

export const leavesText = (leaves: number): string =>
  leaves === 1 ? '1 leaf' : `${leaves.toLocaleString('en-US')} leaves`

function nextText({ isOn, waiting, dueAt }: AnchorTape, now: number): string {
  if (!isOn) return `${leavesText(waiting)} in the log`
  if (waiting === 0) return 'All leaves are anchored'
  if (dueAt === undefined) return `${leavesText(waiting)} waiting`
  return dueAt <= now ? 'Next anchor is due' : `Next in about ${durationText(dueAt - now)}`
}
