/** The operator's home: the money of today, providers, accounts, and what needs attention. */
import type { Deps } from '../../../app/deps-port.ts'
import type { MarginRow } from '../../../billing/margins/margin.ts'
import {
  type Margins,
  marginOf,
  marginPercent,
  marginsOf,
} from '../../../billing/margins/margins.ts'
import { dayMs, dayOf } from '../../../billing/usage/usage.ts'
import type { Model } from '../../../models/model.ts'
import { Address } from '../../../web/ui/address.tsx'
import { Amount } from '../../../web/ui/amount.tsx'
import { ButtonLink } from '../../../web/ui/button.tsx'
import { Figure, Figures, PageHead, Panel, Split } from '../../../web/ui/panel.tsx'
import { Spark } from '../../../web/ui/spark.tsx'
import { type Column, Table } from '../../../web/ui/table.tsx'
import { statusOf } from '../../status/api.ts'
import { type Finding, findingsOf } from '../findings.ts'
import { type UpstreamHealth, upstreamHealth } from '../upstreams.ts'
import { paths } from './admin-frame.tsx'
import { StatusPanel } from './service-status.tsx'
import { upstreamColumns } from './upstream-columns.tsx'

/** Days of the line in the figure. */
const shownDays = 30
const accountsMax = 6

export type TodayView = {
  findings: readonly Finding[]
  /** Revenue per day, today last. */
  revenue: readonly bigint[]
  today: Margins
  /** Names of accounts, by what they publish of themselves. */
  names: ReadonlyMap<string, string>
  upstreams: readonly UpstreamHealth[]
  models: readonly Model[]
}

export async function readToday(deps: Deps): Promise<TodayView> {
  const day = dayOf(deps.clock.now())
  const from = day - (shownDays - 1) * dayMs
  const days = await marginsOf(deps, { from, to: day + dayMs, by: 'day' })
  const today = await marginsOf(deps, { from: day, to: day + dayMs, by: 'account' })
  const shown = bySpend(today.rows).map(({ name }) => name)
  const byDay = new Map(days.rows.map(({ name, revenue }) => [Number(name), revenue]))
  return {
    findings: findingsOf(await statusOf(deps), deps.health.ledgerFaults),
    revenue: Array.from({ length: shownDays }, (_, i) => byDay.get(from + i * dayMs) ?? 0n),
    today,
    names: await deps.passports.publicNames(shown),
    upstreams: upstreamHealth(deps),
    models: deps.catalogue.list(),
  }
}

/** The figure of the day, then the parts of the service: those that are well are one line. */
export const TodayPage = ({ view }: { view: TodayView }) => (
  <>
    <PageHead title="Today">
      <ButtonLink icon="plus" href={`${paths.models}/add`}>
        Add a provider
      </ButtonLink>
    </PageHead>
    <Revenue of={view} />
    <StatusPanel findings={view.findings} />
    <CostAndMargin of={view.today} />
    <Split>
      <Providers of={view} />
      <Accounts of={view} />
    </Split>
  </>
)

const Revenue = ({ of: { today, revenue } }: { of: TodayView }) => (
  <Figure
    label="Revenue today"
    big={<Amount nusd={today.totals.revenue} as="sum" />}
    beside={
      <Spark
        title={`Revenue per day, last ${revenue.length} days.`}
        values={revenue.map((nusd) => Number(nusd) / 1e9)}
      />
    }
  >
    <p>
      <b>{today.totals.runs.toLocaleString('en-US')}</b> runs with a known cost ·{' '}
      <b>{today.rows.length.toLocaleString('en-US')}</b>{' '}
      {today.rows.length === 1 ? 'account' : 'accounts'}
    </p>
  </Figure>
)

const CostAndMargin = ({ of: { totals } }: { of: Margins }) => (
  <Panel id="cost-and-margin" title="Cost and margin" aside={<small>Since 00:00 UTC</small>}>
    <Figures
      label="Cost and margin today"
      of={[
        [<Amount nusd={totals.cost} as="list" />, 'Cost of providers'],
        [<Amount nusd={marginOf(totals)} as="list" />, 'Margin'],
        [`${marginPercent(totals) ?? '–'}${totals.revenue === 0n ? '' : '%'}`, 'Of revenue'],
        [totals.runs.toLocaleString('en-US'), 'Runs'],
      ]}
    />
  </Panel>
)

const Providers = ({ of: { upstreams, models } }: { of: TodayView }) => (
  <Panel id="providers" title="Providers" aside={<a href={paths.models}>All models</a>}>
    <Table
      caption="Providers"
      columns={upstreamColumns(models).filter(({ head }) => providerHeads.has(String(head)))}
      rows={upstreams.toSorted((a, b) => failurePart(b) - failurePart(a))}
      fold="late"
    />
  </Panel>
)

const providerHeads = new Set(['Upstream', 'State', 'Requests', 'Failed', 'Share'])

/** Those with errors come first; one that is refused or paused before all others. */
const failurePart = ({ asked, failed, fault, breaker }: UpstreamHealth): number =>
  (fault || breaker === 'open' ? 1 : 0) + (asked === 0 ? 0 : failed / asked)

/** The accounts that spent most. */
const bySpend = (rows: readonly MarginRow[]): MarginRow[] =>
  rows.toSorted((a, b) => (a.revenue < b.revenue ? 1 : -1)).slice(0, accountsMax)

const Accounts = ({ of: { today, names } }: { of: TodayView }) => (
  <Panel id="spending" title="Accounts by spend" aside={<a href={paths.accounts}>All accounts</a>}>
    {today.rows.length === 0 ? (
      <p class="quiet">No account has spent anything today.</p>
    ) : (
      <Table
        caption="Accounts by spend"
        columns={accountColumns(names)}
        rows={bySpend(today.rows)}
        fold="late"
      />
    )}
  </Panel>
)

const accountColumns = (names: ReadonlyMap<string, string>): Column<MarginRow>[] => [
  {
    head: 'Account',
    at: 'what',
    cell: ({ name }) => (
      <a class="to" href={`${paths.accounts}/${name}`}>
        <AccountName of={name} name={names.get(name)} />
      </a>
    ),
  },
  { head: 'Runs', kind: 'number', cell: ({ runs }) => runs.toLocaleString('en-US') },
  {
    head: 'Spent',
    kind: 'number',
    at: 'cost',
    cell: ({ revenue }) => <Amount nusd={revenue} as="list" />,
  },
]

const AccountName = ({ of, name }: { of: string; name: string | undefined }) =>
  name === undefined ? (
    <Address value={of} />
  ) : (
    <>
      <span class="name" dir="auto">
        {name}
      </span>
      <small>
        <Address value={of} />
      </small>
    </>
  )
