/** The page of a usage report. */
import { toRfc3339 } from '../../../kernel/clock.ts'
import type { Refusal } from '../../../kernel/refusal.ts'
import { Amount } from '../../../web/ui/amount.tsx'
import { ButtonLink } from '../../../web/ui/button.tsx'
import { ErrorNote, Notice } from '../../../web/ui/notice.tsx'
import { Facts, Pad, PageHead, Panel } from '../../../web/ui/panel.tsx'
import type { Report } from '../report.ts'
import { dayMs } from '../usage.ts'
import { toDate } from '../usage-view.ts'
import { RangeForm } from './range-form.tsx'
import { SpendChart } from './spend-chart.tsx'
import { UsageTable } from './usage-table.tsx'

export const usagePath = '/dashboard/usage'

export type UsageView = {
  account: string
  now: number
  /** The query of the address, which the forms and links keep. */
  query: URLSearchParams
  /** What was used, or why it cannot be told. */
  found: Report | Refusal
}

export const UsagePage = ({ view }: { view: UsageView }) => (
  <>
    <PageHead title="Usage">
      <p class="quiet">What your keys ran and what it cost. Days are in UTC.</p>
    </PageHead>
    <RangeForm path={usagePath} query={view.query} keeps="group_by" found={view.found} />
    <UsageBody view={view} />
  </>
)

/** All that depends on the range: what htmx gets. */
export const UsageBody = ({ view: { account, now, query, found } }: { view: UsageView }) =>
  found instanceof Error ? (
    <ErrorNote
      what={found.message}
      retry={<ButtonLink href={usagePath}>Show the last 30 days</ButtonLink>}
    />
  ) : (
    <>
      <Uncounted of={found} />
      <section class="sec purse" aria-label="Spending">
        <Spent of={found} />
        <SpendChart of={found} now={now} />
      </section>
      <UsageTable account={account} query={query} report={found} />
      {found.totals.runs === 0 ? null : <Exports of={found} />}
    </>
  )

const Uncounted = ({ of: { asOf, uncounted } }: { of: Report }) =>
  uncounted === 0 ? null : (
    <Notice tone="warn" title="The count is behind.">
      These figures go up to leaf {asOf.toLocaleString('en-US')} of the log;{' '}
      {uncounted.toLocaleString('en-US')} newer ones are still to be counted.
    </Notice>
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

const count = (value: number) => <data value={String(value)}>{value.toLocaleString('en-US')}</data>

const shareText = (share: number): string =>
  share < 0.01 ? 'below 1%' : `${Math.floor(share * 100)}%`

function Spent({ of: { totals, days } }: { of: Report }) {
  return (
    <div class="sum">
      <h2>{days.length === 1 ? 'Spent in 1 day' : `Spent in ${days.length} days`}</h2>
      <Amount nusd={totals.cost} />
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
    </div>
  )
}

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
