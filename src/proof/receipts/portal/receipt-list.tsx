/** The list of an account's receipts and its filter. */
import { toHex } from '../../../kernel/hex.ts'
import { sortedMax } from '../../../kernel/pagination.ts'
import type { Refusal } from '../../../kernel/refusal.ts'
import { addressOf } from '../../../web/http/query.ts'
import { Amount } from '../../../web/ui/amount.tsx'
import { ButtonLink } from '../../../web/ui/button.tsx'
import { CsvLink } from '../../../web/ui/csv-link.tsx'
import { Empty } from '../../../web/ui/empty.tsx'
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
  TimeChip,
} from '../../../web/ui/filters.tsx'
import { IdLink } from '../../../web/ui/hash.tsx'
import { renderChild } from '../../../web/ui/jsx-runtime.ts'
import { LiveList } from '../../../web/ui/live-list.tsx'
import { ErrorNote } from '../../../web/ui/notice.tsx'
import { PageHead, Panel } from '../../../web/ui/panel.tsx'
import { RosetteMark } from '../../../web/ui/rosette.tsx'
import { StageBadge } from '../../../web/ui/stage.tsx'
import { Badge } from '../../../web/ui/status.tsx'
import { type Column, Pager, Table, TableRow } from '../../../web/ui/table.tsx'
import { When } from '../../../web/ui/when.tsx'
import { receiptIdOf } from '../receipt.ts'
import { passedMax, type Visibility, visibilities } from '../receipts.ts'
import type { ShownReceipt } from '../shown-receipt.ts'

export const listPath = '/dashboard/receipts'
export const ownPath = (id: string): string => `${listPath}/${id}`

/** What the page of all receipts shows. */
export type ReceiptsView = {
  account: string
  now: number
  /** The filter as it stands in the address, without what was left empty. */
  query: URLSearchParams
  models: readonly string[]
  items: readonly ShownReceipt[]
  /** What the next page comes after; undefined at the end. */
  next: string | undefined
  /** Whether these are the newest. */
  isFirst: boolean
  /** What was wrong with the filter. */
  refusal?: Refusal | undefined
}

export const ReceiptsPage = ({ view }: { view: ReceiptsView }) => (
  <>
    <PageHead title="Receipts">
      <p class="quiet">One for every run that reached a model. Private until you share it.</p>
    </PageHead>
    <Filters view={view} />
    <ReceiptsPanel view={view} />
  </>
)

/** The list alone, or why there is none: what htmx puts in its place. */
export function ReceiptsPanel({ view }: { view: ReceiptsView }) {
  const { items, next, isFirst, query, refusal } = view
  if (refusal) {
    return (
      <div id="receipts">
        <ErrorNote what={refusal.message} />
      </div>
    )
  }
  const older = next === undefined ? undefined : hrefOf(query, next)
  const isBare = items.length === 0 && older === undefined && isFirst
  const end = older === undefined ? 'End of list.' : 'Older receipts follow.'
  const words = isByCost(query) ? sortedText('receipts', sortedMax) : end
  return (
    <Panel
      id="receipts"
      title={titleOf(query)}
      aside={isFollowed(view) ? <News view={view} /> : null}
      foot={
        isBare ? null : (
          <Pager older={older} newest={isFirst ? undefined : hrefOf(query)}>
            {words} <CsvLink href={csvHref(query)} />
          </Pager>
        )
      }
    >
      {items.length === 0 ? (
        <NoReceipts view={view} />
      ) : (
        <Table
          caption="Receipts"
          columns={columnsAt(view.now)}
          rows={items}
          rowId={({ run }) => receiptIdOf(run.id)}
        />
      )}
    </Panel>
  )
}

/** Whether new receipts land by themselves; only the newest page grows. */
export const isFollowed = ({ isFirst, refusal, query }: ReceiptsView): boolean =>
  isFirst && !refusal && !query.has('id') && !isByCost(query)

function News({ view: { items, query } }: { view: ReceiptsView }) {
  const newest = items.at(0)
  const open = items.filter(({ stage }) => stage !== 'final').map(({ run }) => receiptIdOf(run.id))
  const asked = new URLSearchParams(query)
  if (newest) asked.set('since', receiptIdOf(newest.run.id))
  if (open.length > 0) asked.set('open', open.join(','))
  return (
    <LiveList stream={`/api/portal/receipts/live?${asked}`} most={rowsMax} href={hrefOf(query)} />
  )
}

/** The most rows of an open list; a reload shows its first page again. */
const rowsMax = 200

/** A row for a list that is open in a browser. */
export const receiptRow = (shown: ShownReceipt, now: number): string =>
  renderChild(
    <TableRow columns={columnsAt(now)} row={shown} id={receiptIdOf(shown.run.id)} fresh />,
  )

const columnsAt = (now: number): Column<ShownReceipt>[] => [
  {
    head: 'Figure',
    kind: 'unnamed',
    at: 'mark',
    cell: ({ run }) => <RosetteMark hash={toHex(run.digest)} />,
  },
  {
    head: 'Receipt',
    at: 'what',
    cell: ({ run }) => <IdLink value={receiptIdOf(run.id)} href={ownPath(receiptIdOf(run.id))} />,
  },
  { head: 'Model', at: 'who', cell: ({ run }) => run.model },
  { head: 'Cost', kind: 'number', at: 'cost', cell: ({ run }) => <Amount nusd={run.cost} /> },
  { head: 'State', at: 'state', cell: ({ stage }) => <StageBadge stage={stage} /> },
  {
    head: 'Seen by',
    kind: 'optional',
    at: 'state',
    cell: ({ visibility }) => <VisibilityBadge of={visibility} />,
  },
  {
    head: 'When',
    kind: 'optional',
    at: 'when',
    cell: ({ run }) => <When at={run.createdAt} now={now} />,
  },
]

/** Who sees a receipt, in a word. */
export const VisibilityBadge = ({ of }: { of: Visibility }) =>
  of === 'private' ? (
    <span class="quiet">Private</span>
  ) : (
    <Badge tone={of === 'public' ? 'ok' : 'warn'}>{visibilityWords[of]}</Badge>
  )

export const visibilityWords: Record<Visibility, string> = {
  private: 'Private',
  unlisted: 'Unlisted',
  public: 'Public',
}

function NoReceipts({ view: { account, query, next } }: { view: ReceiptsView }) {
  if (next !== undefined) {
    return (
      <Empty
        hash={account}
        title="No match yet"
        action={<ButtonLink href={hrefOf(query, next)}>Search older receipts</ButtonLink>}
      >
        None of the {passedMax.toLocaleString('en-US')} newest receipts matches. Older ones may.
      </Empty>
    )
  }
  if (isNarrow(query)) {
    return (
      <Empty
        hash={account}
        title="No matching receipts"
        action={<ButtonLink href={listPath}>Show all receipts</ButtonLink>}
      >
        Remove part of the filter, or choose another period.
      </Empty>
    )
  }
  return (
    <Empty
      hash={account}
      title="No receipts yet"
      action={<ButtonLink href="/dashboard/keys/new">Create a key</ButtonLink>}
    >
      Every run of your keys leaves a signed receipt here.
    </Empty>
  )
}

const isNarrow = (query: URLSearchParams): boolean =>
  [...query.keys()].some((name) => name !== 'limit' && name !== 'sort')

function titleOf(query: URLSearchParams): string {
  if (isByCost(query)) return 'Costliest receipts'
  return isNarrow(query) ? 'Matching receipts' : 'All receipts'
}

/** The list with this filter; `after` is where a page goes on. */
function hrefOf(query: URLSearchParams, after?: string): string {
  const asked = new URLSearchParams(query)
  if (after !== undefined) asked.set('after', after)
  return asked.size === 0 ? listPath : `${listPath}?${asked}`
}

export const csvPath = `${listPath}.csv`

/** All receipts that match, as a file: from the newest on, whatever the page. */
const csvHref = (query: URLSearchParams): string => {
  const asked = new URLSearchParams(query)
  for (const name of ['sort', 'limit']) asked.delete(name)
  return addressOf(csvPath, asked)
}

const Filters = ({ view: { query, models } }: { view: ReceiptsView }) => {
  const chip = (name: string) => ({ name, value: query.get(name) ?? '' })
  return (
    <FilterBar
      action={listPath}
      target="#receipts"
      isMoreOpen={['from', 'to', 'limit'].some((name) => query.has(name))}
      more={
        <>
          <RangeChips query={query} />
          <SizeChip value={query.get('limit') ?? ''} />
        </>
      }
    >
      <SelectChip
        {...chip('visibility')}
        label="Seen by"
        options={orAny(
          visibilities.map((value) => ({ value, label: visibilityWords[value] })),
          null,
        )}
      />
      <SelectChip
        {...chip('model')}
        label="Model"
        options={orAny(
          models.map((id) => ({ value: id, label: id })),
          query.get('model'),
        )}
      />
      <TimeChip query={query} />
      <IdChip query={query} />
      <SortChip value={query.get('sort') ?? ''} />
    </FilterBar>
  )
}
