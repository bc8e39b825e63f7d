/** The table of a usage report. */
import { Refusal } from '../../../kernel/refusal.ts'
import { dayAway } from '../../../kernel/zone.ts'
import { pathWith } from '../../../web/http/query.ts'
import { filterQuery } from '../../../web/http/query-fields.ts'
import { Amount } from '../../../web/ui/amount.tsx'
import { ButtonLink } from '../../../web/ui/button.tsx'
import { Empty } from '../../../web/ui/empty.tsx'
import { ErrorNote } from '../../../web/ui/notice.tsx'
import { Pad, Panel } from '../../../web/ui/panel.tsx'
import { runsHref } from '../../../web/ui/runs-href.ts'
import { smoothLine } from '../../../web/ui/spark.tsx'
import { type Column, Table } from '../../../web/ui/table.tsx'
import { datedQuery } from '../api/page-query.ts'
import { type Waits, waitAt } from '../first-tokens.ts'
import { sizeOf } from '../metric.ts'
import { pageRows, type Report, type ReportTable } from '../report.ts'
import { groupName } from '../stack.ts'
import type { Grouping, UsageRow } from '../sum.ts'
import type { Sums } from '../usage.ts'
import { daysOf } from './usage-figure.tsx'
import { countText, dayAndYear, daysText, tagText, waitText } from './usage-words.ts'

type TableProps = { account: string; query: URLSearchParams; report: Report }

/** The usage in groups, each a link to its runs. */
export const UsageTable = ({ account, query, report }: TableProps) => (
  <Panel
    id="usage"
    title={`By ${report.groupBy.join(' and ')}`}
    aside={<p>{daysText(daysOf(report))}</p>}
    foot={
      report.table instanceof Refusal || report.table.count === 0 ? null : (
        <Foot query={query} by={report.groupBy} table={report.table} />
      )
    }
  >
    <Body account={account} query={query} report={report} />
  </Panel>
)

const groupWords: Record<Grouping, string> = {
  day: 'Day',
  key: 'Key',
  model: 'Model',
  provider: 'Provider',
  tag: 'Tag',
}

/** The same range in other groups, from their first page. */
const hrefBy = (query: URLSearchParams, groupBy: string, page?: number): string =>
  pathWith('', {
    ...Object.fromEntries(filterQuery(query, datedQuery)),
    metric: query.get('metric') ?? undefined,
    group_by: groupBy,
    page: page?.toString(),
  })

function Body({ account, query, report }: TableProps) {
  const { table } = report
  if (table instanceof Refusal) {
    return (
      <Pad>
        <ErrorNote
          what={table.message}
          retry={<ButtonLink href={hrefBy(query, 'day')}>Group by day</ButtonLink>}
        />
      </Pad>
    )
  }
  if (table.count === 0) return <NothingUsed account={account} query={query} />
  return (
    <Table
      caption={`Usage by ${report.groupBy.join(' and ')}`}
      columns={columnsOf(report, table, query.get('key') || undefined)}
      rows={table.rows}
    />
  )
}

const NothingUsed = ({ account, query }: Pick<TableProps, 'account' | 'query'>) => (
  <Empty
    hash={account}
    title="No usage in this period"
    action={
      query.get('days') === '90' ? (
        <ButtonLink href="/dashboard/keys/new">Create a key</ButtonLink>
      ) : (
        <ButtonLink href={`?${new URLSearchParams({ days: '90' })}`}>
          Show the last 90 days
        </ButtonLink>
      )
    }
  >
    A run is counted on the day it ends, which is when it is charged.
  </Empty>
)

type FootProps = { query: URLSearchParams; by: Report['groupBy']; table: ReportTable }

function Foot({ query, by: groupBy, table }: FootProps) {
  const { page, pages, count } = table
  const by = groupBy.join(',')
  const first = (page - 1) * pageRows + 1
  const words =
    pages === 1
      ? `${count} ${unitOf(groupBy)}${count === 1 ? '' : 's'}`
      : `${first}–${first + table.rows.length - 1} of ${count.toLocaleString('en-US')}`
  return (
    <>
      <span>
        {words}
        {groupBy.includes('tag')
          ? ' A run with two tags counts in both rows and once in the total.'
          : null}
      </span>
      <span class="row">
        {page > 1 ? (
          <a class="btn small" href={hrefBy(query, by, page - 1)} rel="prev">
            Previous
          </a>
        ) : null}
        {page < pages ? (
          <a class="btn small" href={hrefBy(query, by, page + 1)} rel="next">
            Next
          </a>
        ) : null}
      </span>
    </>
  )
}

const unitOf = ([first, ...more]: readonly Grouping[]): string =>
  first === undefined || more.length > 0 ? 'row' : first

function columnsOf(
  report: Report,
  table: ReportTable,
  only: string | undefined,
): Column<UsageRow>[] {
  const { totals } = table
  const groups = report.groupBy.map(
    (by): Column<UsageRow> => ({
      head: groupWords[by],
      cell: (row) => (
        <span class={by === 'day' ? undefined : 'name'}>
          <GroupCell by={by} row={row} report={report} names={table.keyNames} only={only} />
        </span>
      ),
    }),
  )
  const [firstGroup, ...others] = groups
  return [
    ...(firstGroup ? [{ ...firstGroup, total: 'Total' }] : []),
    ...others.map((other) => ({ ...other, at: 'who' as const })),
    { head: 'Runs', kind: 'number', cell: ({ runs }) => count(runs), total: count(totals.runs) },
    {
      head: 'Succeeded',
      kind: 'optional-number',
      cell: ({ succeeded }) => count(succeeded),
      total: count(totals.succeeded),
    },
    {
      head: 'Units in',
      kind: 'optional-number',
      cell: ({ inputUnits }) => count(inputUnits),
      total: count(totals.inputUnits),
    },
    ...(totals.cachedUnits === 0 ? [] : [cachedColumn(totals)]),
    {
      head: 'Units out',
      kind: 'optional-number',
      cell: ({ outputUnits }) => count(outputUnits),
      total: count(totals.outputUnits),
    },
    {
      head: 'First token',
      kind: 'optional-number',
      cell: ({ waits }) => firstToken(waits),
      total: firstToken(table.waits),
    },
    ...(report.groupBy.length === 1 && report.groupBy[0] !== 'day'
      ? partColumns(report, table)
      : []),
    {
      head: 'Cost',
      kind: 'number',
      at: 'cost',
      cell: ({ cost }) => <Amount nusd={cost} as="list" />,
      total: <Amount nusd={totals.cost} as="list" />,
    },
  ]
}

const cachedColumn = (totals: Sums): Column<UsageRow> => ({
  head: 'Cached',
  kind: 'optional-number',
  cell: ({ cachedUnits }) => count(cachedUnits),
  total: count(totals.cachedUnits),
})

const firstToken = (waits: Waits) => {
  const median = waitAt(waits, 0.5)
  return median === undefined ? <span class="quiet">–</span> : waitText(median)
}

/** Columns of a table by one group: its part of all, and its way through the steps. */
function partColumns({ metric, stack }: Report, { totals }: ReportTable): Column<UsageRow>[] {
  const of = metric === 'first_token' ? 'requests' : metric
  const all = sizeOf(of, totals)
  const share = (row: Sums) => (all === 0 ? '' : `${Math.round((sizeOf(of, row) / all) * 100)}%`)
  const isTold = stack && stack.by !== 'class'
  const trend = (row: UsageRow) => {
    const values = isTold ? stack.trends.get(groupName(stack.by, row)) : undefined
    return values && values.length > 1 ? <Trend values={values} /> : null
  }
  return [
    ...(isTold ? [{ head: 'Trend', kind: 'optional-number' as const, cell: trend }] : []),
    { head: 'Share', kind: 'optional-number', cell: share },
  ]
}

const Trend = ({ values }: { values: readonly number[] }) => (
  <svg class="trend" viewBox="0 0 100 40" preserveAspectRatio="none" aria-hidden="true">
    <path d={smoothLine(values)} />
  </svg>
)

const count = countText

type GroupProps = {
  by: Grouping
  row: UsageRow
  report: Report
  names: ReportTable['keyNames']
  /** The key that the page is narrowed to. */
  only: string | undefined
}

function GroupCell({ by, row, report, names, only }: GroupProps) {
  const { day, keyId, model, provider, tag } = row
  const period = day === undefined ? report : dayPeriod(report, day)
  const href = (query: Record<string, string>) =>
    runsHref({ ...period, zone: report.zone }, { key: only, ...query })
  if (by === 'day' && day !== undefined) {
    return <a href={href({})}>{dayAndYear(report.zone, day, 0)}</a>
  }
  if (by === 'key' && keyId !== undefined) {
    return (
      <strong>
        <a href={href({ key: keyId })}>{names.get(keyId) ?? keyId}</a>
      </strong>
    )
  }
  if (by === 'model' && model !== undefined) return <a href={href({ model })}>{model}</a>
  // Lists of runs know no providers.
  if (by === 'provider') return provider ? <span>{provider}</span> : <span class="quiet">None</span>
  if (tag) return <a href={href({ tag: tagText(tag) })}>{tagText(tag)}</a>
  return <span class="quiet">No tag</span>
}

const dayPeriod = ({ zone }: Report, day: number) => ({ from: day, to: dayAway(zone, day, 1) })
