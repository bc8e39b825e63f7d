/** The table of a usage report. */
import { Refusal } from '../../../kernel/refusal.ts'
import { pathWith } from '../../../web/http/query.ts'
import { Amount } from '../../../web/ui/amount.tsx'
import { ButtonLink } from '../../../web/ui/button.tsx'
import { Empty } from '../../../web/ui/empty.tsx'
import { Tabs } from '../../../web/ui/filters.tsx'
import { ErrorNote } from '../../../web/ui/notice.tsx'
import { Pad, Panel } from '../../../web/ui/panel.tsx'
import { type Column, Table } from '../../../web/ui/table.tsx'
import { dateText } from '../../../web/ui/when.tsx'
import { pageRows, type Report, type ReportTable } from '../report.ts'
import { dimensions, type Grouping, type Tag, type UsageRow } from '../sum.ts'
import { dayMs, type Sums } from '../usage.ts'
import { toDate } from '../usage-view.ts'
import { rangeOf } from './range-form.tsx'

type TableProps = { account: string; query: URLSearchParams; report: Report }

/** The usage in groups, each a link to its runs. */
export const UsageTable = ({ account, query, report }: TableProps) => (
  <Panel
    id="usage"
    title={`By ${report.groupBy.join(' and ')}`}
    aside={
      <Tabs
        label="Group by"
        tabs={groupings(report.groupBy).map((by) => ({
          href: hrefBy(query, by.join(',')),
          label: groupText(by),
        }))}
        here={hrefBy(query, report.groupBy.join(','))}
      />
    }
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

/** Groupings to choose from: each alone, and the two or more that the address names. */
function groupings(shown: readonly Grouping[]): (readonly Grouping[])[] {
  const alone = dimensions.map((one) => [one])
  return shown.length > 1 ? [...alone, shown] : alone
}

const groupText = (by: readonly Grouping[]): string =>
  by.map((one, i) => (i === 0 ? groupWords[one] : one)).join(' and ')

/** The same range in other groups, from their first page. */
const hrefBy = (query: URLSearchParams, groupBy: string, page?: number): string =>
  pathWith('', { ...rangeOf(query), group_by: groupBy, page: page?.toString() })

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
      columns={columnsOf(report, table)}
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
      ? `${count} ${unitOf(groupBy)}${count === 1 ? '' : 's'}. End of list.`
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

function columnsOf(report: Report, table: ReportTable): Column<UsageRow>[] {
  const { totals } = table
  const groups = report.groupBy.map(
    (by): Column<UsageRow> => ({
      head: groupWords[by],
      cell: (row) => (
        <span class={by === 'day' ? undefined : 'name'}>
          <GroupCell by={by} row={row} report={report} names={table.keyNames} />
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
      head: 'Cost',
      kind: 'number',
      at: 'cost',
      cell: ({ cost }) => <Amount nusd={cost} />,
      total: <Amount nusd={totals.cost} />,
    },
  ]
}

const cachedColumn = (totals: Sums): Column<UsageRow> => ({
  head: 'Cached',
  kind: 'optional-number',
  cell: ({ cachedUnits }) => count(cachedUnits),
  total: count(totals.cachedUnits),
})

const count = (value: number): string => value.toLocaleString('en-US')

type GroupProps = {
  by: Grouping
  row: UsageRow
  report: Report
  names: ReportTable['keyNames']
}

function GroupCell({ by, row, report, names }: GroupProps) {
  const runs = (query: Record<string, string>, { from, to } = periodOf(row, report)) =>
    `/dashboard/runs?${new URLSearchParams({ ...query, from: toDate(from), to: toDate(to - 1) })}`
  const { day, keyId, model, tag } = row
  if (by === 'day' && day !== undefined) return <a href={runs({})}>{dateText(day)}</a>
  if (by === 'key' && keyId !== undefined) {
    return (
      <strong>
        <a href={runs({ key: keyId })}>{names.get(keyId) ?? keyId}</a>
      </strong>
    )
  }
  if (by === 'model' && model !== undefined) return <a href={runs({ model })}>{model}</a>
  if (tag) return <a href={runs({ tag: tagText(tag) })}>{tagText(tag)}</a>
  return <span class="quiet">No tag</span>
}

const periodOf = ({ day }: UsageRow, { from, to }: Report) =>
  day === undefined ? { from, to } : { from: day, to: day + dayMs }

const tagText = ({ name, value }: Tag): string => `${name}:${value}`
