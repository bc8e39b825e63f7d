/** The list of an account's runs, its filter, and the notice of new ones. */

import { sortedMax } from '../../kernel/pagination.ts'
import type { Refusal } from '../../kernel/refusal.ts'
import { addressOf } from '../../web/http/query.ts'
import { ButtonLink } from '../../web/ui/button.tsx'
import { CsvLink } from '../../web/ui/csv-link.tsx'
import { Empty } from '../../web/ui/empty.tsx'
import {
  FilterBar,
  IdChip,
  isByCost,
  orAny,
  RangeChips,
  SelectChip,
  SizeChip,
  SortChip,
  sortedText,
  TextChip,
  TimeChip,
} from '../../web/ui/filters.tsx'
import { renderChild } from '../../web/ui/jsx-runtime.ts'
import { LiveList } from '../../web/ui/live-list.tsx'
import { ErrorNote } from '../../web/ui/notice.tsx'
import { PageHead, Panel } from '../../web/ui/panel.tsx'
import { Pager, Table, TableRow } from '../../web/ui/table.tsx'
import type { ReceiptStateOf } from '../receipt-state.ts'
import { runStatuses } from '../run.ts'
import { isInFlight, passedMax, type ShownPage, type ShownRun } from '../shown-run.ts'
import { runColumns, statusWords } from './run-state.tsx'

export const runsPath = '/dashboard/runs'

export type RunsView = {
  account: string
  now: number
  /** The filter as in the URL. */
  query: URLSearchParams
  models: readonly string[]
  /** Undefined if there are too many to list: the form then asks for a key's id. */
  keys: readonly { id: string; name: string }[] | undefined
  page: ShownPage
  /** Whether this page holds the newest runs. */
  isFirst: boolean
  receiptStateOf: ReceiptStateOf
  /** Why the filter is invalid. */
  refusal?: Refusal | undefined
}

export const RunsPage = ({ view }: { view: RunsView }) => (
  <>
    <PageHead title="Runs">
      <p class="quiet">Every run of every key, what it cost, and its receipt.</p>
    </PageHead>
    <Filters view={view} />
    <RunsPanel view={view} />
  </>
)

/** Whether the page announces new runs; only the newest page does. */
export const isFollowed = ({ isFirst, refusal, query }: RunsView): boolean =>
  isFirst && !refusal && !query.has('id') && !isByCost(query)

/** The list alone, or why there is none: what htmx replaces. */
export function RunsPanel({ view }: { view: RunsView }) {
  const { page, isFirst, query, refusal } = view
  if (refusal) {
    return (
      <div id="runs">
        <ErrorNote what={refusal.message} />
      </div>
    )
  }
  const older = page.next === undefined ? undefined : hrefOf(query, page.next)
  return (
    <Panel
      id="runs"
      title={titleOf(query)}
      aside={isFollowed(view) ? <News view={view} /> : null}
      foot={
        page.items.length === 0 && older === undefined && isFirst ? null : (
          <Pager older={older} newest={isFirst ? undefined : hrefOf(query)}>
            {isByCost(query) ? sortedText('runs', sortedMax) : footText(page)}{' '}
            <CsvLink href={csvHref(query)} />
          </Pager>
        )
      }
    >
      {page.items.length === 0 ? (
        <NoRuns view={view} />
      ) : (
        <Table
          caption="Runs"
          columns={runColumns(view.receiptStateOf, view.now)}
          rows={page.items}
          rowId={({ run }) => run.id}
        />
      )}
    </Panel>
  )
}

/** New runs land here by themselves, and states move on. */
function News({ view: { page, query, receiptStateOf } }: { view: RunsView }) {
  const since = page.items.at(0)?.run.id
  const open = page.items
    .filter(({ run }) => isInFlight(run) || receiptStateOf(run) !== 'final')
    .map(({ run }) => run.id)
  const asked = new URLSearchParams(query)
  if (since !== undefined) asked.set('since', since)
  if (open.length > 0) asked.set('open', open.join(','))
  return <LiveList stream={`/api/portal/runs/live?${asked}`} most={rowsMax} href={hrefOf(query)} />
}

/** The most rows of an open list; a reload shows its first page again. */
const rowsMax = 200

/** A row for a list that is open in a browser. */
export const rowOf = (shown: ShownRun, receiptStateOf: ReceiptStateOf, now: number): string =>
  renderChild(
    <TableRow columns={runColumns(receiptStateOf, now)} row={shown} id={shown.run.id} fresh />,
  )

function NoRuns({ view: { account, query, page } }: { view: RunsView }) {
  if (page.next !== undefined) {
    return (
      <Empty
        hash={account}
        title="No match yet"
        action={<ButtonLink href={hrefOf(query, page.next)}>Search older runs</ButtonLink>}
      >
        None of the {passedMax.toLocaleString('en-US')} newest runs matches. Older ones may.
      </Empty>
    )
  }
  if (isNarrow(query)) {
    return (
      <Empty
        hash={account}
        title="No matching runs"
        action={<ButtonLink href={runsPath}>Show all runs</ButtonLink>}
      >
        Remove part of the filter, or choose another period.
      </Empty>
    )
  }
  return (
    <Empty
      hash={account}
      title="No runs yet"
      action={<ButtonLink href="/dashboard/keys/new">Create a key</ButtonLink>}
    >
      A run appears here as soon as one of your keys starts it, with its cost and its receipt.
    </Empty>
  )
}

const isNarrow = (query: URLSearchParams): boolean =>
  [...query.keys()].some((name) => name !== 'limit' && name !== 'sort')

function titleOf(query: URLSearchParams): string {
  if (isByCost(query)) return 'Costliest runs'
  return isNarrow(query) ? 'Matching runs' : 'All runs'
}

export const csvPath = `${runsPath}.csv`

/** All runs that match, as a file: from the newest on, whatever the page. */
const csvHref = (query: URLSearchParams): string => {
  const asked = new URLSearchParams(query)
  for (const name of ['sort', 'limit']) asked.delete(name)
  return addressOf(csvPath, asked)
}

function footText({ items, next }: ShownPage): string {
  if (next === undefined) return 'End of list.'
  return `Showing ${items.length}. Older runs follow.`
}

/** The URL of the list with this filter, from cursor `after` on. */
function hrefOf(query: URLSearchParams, after?: string): string {
  const asked = new URLSearchParams(query)
  if (after !== undefined) asked.set('after', after)
  return asked.size === 0 ? runsPath : `${runsPath}?${asked}`
}

const Filters = ({ view: { query, models, keys } }: { view: RunsView }) => {
  const chip = (name: string) => ({ name, value: query.get(name) ?? '' })
  const asOptions = (ids: readonly string[]) => ids.map((id) => ({ value: id, label: id }))
  return (
    <FilterBar
      action={runsPath}
      target="#runs"
      isMoreOpen={['tag', 'from', 'to', 'limit'].some((name) => query.has(name))}
      more={
        <>
          <TextChip {...chip('tag')} label="Tag" placeholder="team:search" />
          <RangeChips query={query} />
          <SizeChip value={query.get('limit') ?? ''} />
        </>
      }
    >
      <SelectChip
        {...chip('status')}
        label="State"
        options={orAny(
          runStatuses.map((value) => ({ value, label: statusWords[value] })),
          null,
        )}
      />
      <SelectChip
        {...chip('model')}
        label="Model"
        options={orAny(asOptions(models), query.get('model'))}
      />
      {keys ? (
        <SelectChip
          {...chip('key')}
          label="Key"
          options={orAny(
            keys.map(({ id, name }) => ({ value: id, label: name })),
            query.get('key'),
          )}
        />
      ) : (
        <TextChip {...chip('key')} label="Key" placeholder="key_…" />
      )}
      <TimeChip query={query} />
      <IdChip query={query} />
      <SortChip value={query.get('sort') ?? ''} />
    </FilterBar>
  )
}
