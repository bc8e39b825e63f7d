/** The page of a usage report. */
import { toRfc3339 } from '../../../kernel/clock.ts'
import type { Refusal } from '../../../kernel/refusal.ts'
import type { ZoneName } from '../../../kernel/zone.ts'
import { ButtonLink } from '../../../web/ui/button.tsx'
import { ErrorNote, Notice } from '../../../web/ui/notice.tsx'
import { Facts, Pad, PageHead, Panel } from '../../../web/ui/panel.tsx'
import type { Report } from '../report.ts'
import { dayMs } from '../usage.ts'
import { toDate } from '../usage-view.ts'
import { UsageChart } from './usage-chart.tsx'
import { UsageControls } from './usage-controls.tsx'
import { daysOf, UsageFigure } from './usage-figure.tsx'
import { UsageTable } from './usage-table.tsx'
import { countText } from './usage-words.ts'

export const usagePath = '/dashboard/usage'

export type UsageView = {
  account: string
  now: number
  zone: ZoneName
  /** The query of the address, which the forms and links keep. */
  query: URLSearchParams
  keys: readonly { id: string; name: string }[] | undefined
  /** The report, or why it cannot be told. */
  found: Report | Refusal
}

export const UsagePage = ({ view }: { view: UsageView }) => {
  const { account, now, zone, query, keys, found } = view
  const controls = { path: usagePath, query, zone, keys, found }
  const isEmpty = found instanceof Error || found.totals.runs === 0
  return (
    <>
      <PageHead title="Usage">
        {isEmpty ? null : (
          <ButtonLink href="#export" icon="download">
            Export
          </ButtonLink>
        )}
      </PageHead>
      {found instanceof Error ? (
        <>
          <UsageControls {...controls} />
          <ErrorNote
            what={found.message}
            retry={<ButtonLink href={usagePath}>Show the last 30 days</ButtonLink>}
          />
        </>
      ) : (
        <>
          <UsageFigure of={found} now={now} />
          <UsageControls {...controls} />
          <Uncounted of={found} />
          <section class="box" aria-labelledby="chart-title">
            <h2 class="vh" id="chart-title">
              Chart
            </h2>
            <UsageChart
              of={found}
              now={now}
              daysShown={daysOf(found)}
              keyId={query.get('key') ?? undefined}
            />
            {found.stack?.by === 'tag' ? (
              <small class="quiet">A run with two tags is in both of their bars.</small>
            ) : null}
          </section>
          <UsageTable account={account} query={query} report={found} />
          {isEmpty ? null : (
            <>
              <Used of={found} />
              <Exports of={found} />
            </>
          )}
        </>
      )}
    </>
  )
}

const Uncounted = ({ of: { asOf, uncounted } }: { of: Report }) =>
  uncounted === 0 ? null : (
    <Notice tone="warn" title="The count is behind.">
      These figures go up to leaf {asOf.toLocaleString('en-US')} of the log;{' '}
      {uncounted.toLocaleString('en-US')} newer ones are still to be counted.
    </Notice>
  )

const Used = ({ of: { totals } }: { of: Report }) => (
  <Panel id="used" title="Runs and tokens">
    <Pad>
      <Facts
        of={[
          ['Runs', count(totals.runs)],
          ['Succeeded', count(totals.succeeded)],
          ['Units in', count(totals.inputUnits)],
          ...partOf('From a cache', totals.cachedUnits, totals.inputUnits),
          ...partOf('Written to a cache', totals.cacheWriteUnits, totals.inputUnits),
          ['Units out', count(totals.outputUnits)],
          ...partOf('Reasoning', totals.reasoningUnits, totals.outputUnits),
        ]}
      />
    </Pad>
  </Panel>
)

/** A class of a side, with its share of that; nothing where it was not used. */
const partOf = (name: string, units: number, all: number) =>
  units === 0
    ? []
    : ([
        [
          name,
          <>
            {count(units)} <small class="quiet">({shareText(units / all)})</small>
          </>,
        ],
      ] as const)

const count = (value: number) => <data value={String(value)}>{countText(value)}</data>

const shareText = (share: number): string =>
  share < 0.01 ? 'below 1%' : `${Math.floor(share * 100)}%`

const formats = [
  ['csv', 'CSV', 'One line per run, for spreadsheets.'],
  ['jsonl', 'JSONL', 'One object per run, for programs.'],
  ['focus', 'FOCUS', 'FinOps FOCUS 1.2, for cost tools.'],
] as const

const Exports = ({ of }: { of: Report }) => (
  <Panel id="export" title="Export">
    <Pad>
      <p class="quiet">
        Every run of these days with its receipt’s digest, as of leaf{' '}
        {of.asOf.toLocaleString('en-US')} of the log: the same link gives the same bytes again,
        however much runs meanwhile. Only the names of keys are those of the day you download.
      </p>
      <div class="grid2">
        {formats.map(([format, name, what]) => (
          <div class="stack close">
            <ButtonLink href={exportHref(of, format)} icon="download" download>
              {name}
            </ButtonLink>
            <small class="quiet">{what}</small>
          </div>
        ))}
      </div>
      <p class="quiet">
        The service signs what each file has: its rows, their sum and the SHA-256 of its bytes. In
        JSONL that manifest is the last line; beside the others save it{' '}
        <a href={exportHref(of, 'csv', '/manifest')} download="usage.csv.manifest.json">
          of CSV
        </a>{' '}
        or{' '}
        <a href={exportHref(of, 'focus', '/manifest')} download="focus.csv.manifest.json">
          of FOCUS
        </a>
        . Check:{' '}
        <code>
          counterfoil verify usage.csv <span class="hex">--manifest</span> usage.csv.manifest.json
        </code>
      </p>
    </Pad>
  </Panel>
)

/** Whole days as dates, which people can read. */
function exportHref({ from, to, asOf }: Report, format: string, part = ''): string {
  const isWhole = from % dayMs === 0 && to % dayMs === 0
  const edges = isWhole
    ? { from: toDate(from), to: toDate(to - 1) }
    : { from: toRfc3339(from), to: toRfc3339(to) }
  const asked = new URLSearchParams({ format, ...edges, as_of: String(asOf) })
  return `/api/portal/usage/export${part}?${asked}`
}
