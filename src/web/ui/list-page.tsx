/** Pages of lists with a filter, an order, a file, and rows that arrive by themselves. */
import { sortedMax } from '../../kernel/pagination.ts'
import { Refusal } from '../../kernel/refusal.ts'
import { parseDate } from '../../kernel/time-text.ts'
import { dayOfDate, utcZone, type ZoneName } from '../../kernel/zone.ts'
import { addressOf } from '../http/query.ts'
import { filterQuery, type Query } from '../http/query-fields.ts'
import { ButtonLink } from './button.tsx'
import { type Choices, FilterBar } from './filters.tsx'
import type { Child } from './jsx-runtime.ts'
import { ErrorNote } from './notice.tsx'
import { capitalised, List } from './paged-list.tsx'
import { PageHead } from './panel.tsx'
import { type Column, type Days, type Fold, TableRow } from './table.tsx'
import { renderIn, ZoneNote } from './when.tsx'

/** A page of a list as it was asked for. */
export type Listed<Row> = {
  account: string
  now: number
  /** The filter as it stands in the address, without empty fields. */
  query: URLSearchParams
  items: readonly Row[]
  /** The place that the next page begins after; undefined at the end. */
  next: string | undefined
  isFirst: boolean
  /** Why the filter is invalid. */
  refusal?: Refusal | undefined
}

type ListRequest = {
  account: string
  now: number
  query: URLSearchParams
  /** The fields that narrow it. */
  of: Query
}

/** Reads a list; a filter that cannot be read is shown in its place. */
export async function readListed<Row>(
  { account, now, query, of }: ListRequest,
  read: () => Promise<Pick<Listed<Row>, 'items' | 'next'>>,
): Promise<Listed<Row>> {
  const view = { account, now, query: filterQuery(query, of), isFirst: !query.get('after') }
  try {
    return { ...view, ...(await read()) }
  } catch (refusal) {
    if (!(refusal instanceof Refusal) || refusal.type !== 'invalid_request') throw refusal
    return { ...view, items: [], next: undefined, refusal }
  }
}

/** How a list is drawn. */
export type ListLook<Row> = {
  path: string
  /** The zone of its times, and of the days that narrow it. */
  zone: ZoneName
  /** The panel's id and the name of the rows: "runs". */
  noun: string
  /** Below the title of the page where no figure says more. */
  about: string
  figure?: Child
  /** Beside the title. */
  act?: Child
  fold?: Fold
  /** Heads of days between rows in their order. */
  days?: Days<Row>
  query: Query
  choices: Choices
  columns: readonly Column<Row>[]
  idOf: (row: Row) => string
  /** Whether a row can still change. */
  isOpen: (row: Row) => boolean
  /** How many rows one look for matches passes. */
  passed: number
  /** When a list without a filter gets its first row. */
  first: string
}

type Props<Row> = { view: Listed<Row>; look: ListLook<Row> }

export const ListPage = <Row,>({ view, look }: Props<Row>) => (
  <>
    <PageHead title={capitalised(look.noun)}>
      {look.figure ? null : <p class="quiet">{look.about}</p>}
      {look.act}
    </PageHead>
    {look.figure}
    <FilterBar
      action={look.path}
      target={`#${look.noun}`}
      query={view.query}
      of={look.query}
      choices={look.choices}
    />
    <ListPanel view={view} look={look} />
  </>
)

/** The list alone, or why there is none: what htmx replaces. */
export function ListPanel<Row>({ view, look }: Props<Row>) {
  const { items, next, isFirst, query, refusal } = view
  const { path, noun } = look
  if (refusal) {
    return (
      <div id={noun}>
        <ErrorNote what={refusal.message} />
      </div>
    )
  }
  return (
    <List
      id={noun}
      title={titleOf(query, noun)}
      noun={noun}
      items={items}
      columns={look.columns}
      rowId={look.idOf}
      href={addressOf(path, query)}
      next={next}
      isFirst={isFirst}
      hash={view.account}
      empty={{
        title: `No ${noun} yet`,
        text: look.first,
        action: <ButtonLink href="/dashboard/keys/new">Create a key</ButtonLink>,
      }}
      clear={isNarrow(query) ? path : undefined}
      passed={look.passed}
      live={isFollowed(view) ? { stream: streamOf(view, look), most: rowsMax } : undefined}
      words={
        <>
          {isByCost(query) ? `${sortedText(noun)} ` : null}
          <ZoneNote zone={look.zone} />
        </>
      }
      csv={addressOf(`${path}.csv`, inMoments(without(query, 'sort', 'limit'), look.zone))}
      isUntitled
      {...(look.fold ? { fold: look.fold } : {})}
      days={isByCost(query) ? undefined : look.days}
    />
  )
}

/** Whether new rows land by themselves; only the newest page grows. */
export const isFollowed = ({ isFirst, refusal, query }: Listed<unknown>): boolean =>
  isFirst && !refusal && !query.has('id') && !isByCost(query)

/** The stream begins after the newest row, and follows those that can still change. */
function streamOf<Row>({ items, query }: Listed<Row>, { noun, idOf, isOpen }: ListLook<Row>) {
  const asked = new URLSearchParams(query)
  const [newest] = items
  const open = items.filter(isOpen).map(idOf)
  if (newest !== undefined) asked.set('since', idOf(newest))
  if (open.length > 0) asked.set('open', open.join(','))
  return `/api/portal/${noun}/live?${asked}`
}

/** The most rows of an open list; a reload shows its first page again. */
const rowsMax = 200

/** A row for a list that is open in a browser. */
export const freshRow = <Row,>(row: Row, { columns, idOf, zone }: ListLook<Row>): string =>
  renderIn(zone, <TableRow columns={columns} row={row} id={idOf(row)} fresh />)

/** Dates as the moments that they stand for in a zone: a file has the rows that the page lists. */
function inMoments(query: URLSearchParams, zone: ZoneName): URLSearchParams {
  const asked = new URLSearchParams(query)
  for (const name of ['from', 'to'] as const) {
    const date = parseDate(asked.get(name) ?? '')
    if (date === undefined || zone === utcZone) continue
    const at = dayOfDate(zone, name === 'to' ? date + dayMs : date)
    asked.set(name, new Date(at).toISOString())
  }
  return asked
}

const dayMs = 86_400_000

const isByCost = (query: URLSearchParams): boolean => query.get('sort') === 'costliest'

const sortedText = (noun: string): string =>
  `Among the ${sortedMax.toLocaleString('en-US')} newest ${noun}.`

export const isNarrow = (query: URLSearchParams): boolean =>
  without(query, 'limit', 'sort').size > 0

function titleOf(query: URLSearchParams, noun: string): string {
  if (isByCost(query)) return `Costliest ${noun}`
  return isNarrow(query) ? `Matching ${noun}` : `All ${noun}`
}

function without(query: URLSearchParams, ...names: string[]): URLSearchParams {
  const asked = new URLSearchParams(query)
  for (const name of names) asked.delete(name)
  return asked
}
