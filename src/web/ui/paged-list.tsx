/** Lists of a page: one description draws the panel, its rows, its foot and the empty state. */
import { csvMax } from '../http/csv-download.ts'
import { ButtonLink } from './button.tsx'
import { Empty } from './empty.tsx'
import type { Child } from './jsx-runtime.ts'
import { LiveList } from './live-list.tsx'
import { Panel } from './panel.tsx'
import { type Column, type Days, type Fold, Pager, Table } from './table.tsx'

type ListProps<Row> = {
  /** Of the panel, which htmx replaces. */
  id: string
  title: Child
  /** Names the rows: "deposits". */
  noun: string
  items: readonly Row[]
  columns: readonly Column<Row>[]
  /** Of a row that moves while the page is open. */
  rowId?: (row: Row) => string
  /** The address of its first page, with the filter. */
  href: string
  /** The place that the next page begins after; undefined at the end. */
  next?: string | undefined
  /** Whether these are the newest; default: true. */
  isFirst?: boolean
  /** Hex that the figure of an empty list is drawn from. */
  hash: string
  /** An empty first page. */
  empty?: { title: string; text: Child; action?: Child }
  /** Where the filter is off; undefined if nothing is filtered. */
  clear?: string | undefined
  /** How many rows one look for matches passes; an empty page before the end says so. */
  passed?: number
  aside?: Child
  /** The stream of an open list, and the most rows it keeps. */
  live?: { stream: string; most: number } | undefined
  /** At the left of the foot. */
  words?: Child
  /** The title of the page is that of the list. */
  isUntitled?: boolean
  fold?: Fold
  days?: Days<Row> | undefined
  /** The file of all rows. */
  csv?: string
  /** Above the rows. */
  children?: Child
  /** In place of the table: rows of another kind. */
  body?: Child
}

/** A table that can grow, page by page. It works without script. */
export function List<Row>(props: ListProps<Row>) {
  const { id, noun, items, columns, rowId, href, next, isFirst = true, live } = props
  const isBare = items.length === 0 && next === undefined && isFirst
  const older = next === undefined ? undefined : hrefAfter(href, next)
  const hasFoot = props.words !== undefined || props.csv !== undefined || older || !isFirst
  return (
    <Panel
      id={id}
      title={props.title}
      isUntitled={props.isUntitled}
      aside={live ? <LiveList {...live} href={href} /> : props.aside}
      foot={
        isBare || !hasFoot ? null : (
          <Pager older={older} newest={isFirst ? undefined : href}>
            {props.words}
            {props.csv === undefined ? null : (
              <>
                {props.words === undefined ? null : ' ·'}
                <CsvLink href={props.csv} />
              </>
            )}
          </Pager>
        )
      }
    >
      {props.children}
      {items.length === 0 ? (
        <None {...emptyOf(props)} hash={props.hash} />
      ) : (
        (props.body ?? (
          <Table
            caption={capitalised(noun)}
            columns={columns}
            rows={items}
            fold={props.fold}
            days={props.days}
            {...(rowId ? { rowId } : {})}
          />
        ))
      )}
    </Panel>
  )
}

/** All that match, not this page alone. */
const CsvLink = ({ href }: { href: string }) => (
  <>
    {' '}
    <a href={href} download="" title={`All that match, up to ${csvMax.toLocaleString('en-US')}`}>
      Export CSV, in UTC
    </a>
  </>
)

type EmptyState = NonNullable<ListProps<unknown>['empty']>

const None = ({ hash, title, text, action }: EmptyState & { hash: string }) => (
  <Empty hash={hash} title={title} action={action}>
    {text}
  </Empty>
)

function emptyOf<Row>(props: ListProps<Row>): EmptyState {
  const { noun, href, next, isFirst = true, clear, empty, passed = 0 } = props
  if (next !== undefined) {
    return {
      title: 'No match yet',
      text: `None of the ${passed.toLocaleString('en-US')} newest ${noun} matches. Older ones may.`,
      action: <ButtonLink href={hrefAfter(href, next)}>Search older {noun}</ButtonLink>,
    }
  }
  if (clear !== undefined) {
    return {
      title: `No matching ${noun}`,
      text: 'Remove part of the filter, or choose another period.',
      action: <ButtonLink href={clear}>Show all {noun}</ButtonLink>,
    }
  }
  if (isFirst && empty) return empty
  return {
    title: `No older ${noun}`,
    text: 'The list ends here.',
    action: <ButtonLink href={href}>Show the newest</ButtonLink>,
  }
}

function hrefAfter(href: string, place: string): string {
  const [address, anchor] = href.split('#')
  const query = `${address?.includes('?') ? '&' : '?'}after=${encodeURIComponent(place)}`
  return `${address}${query}${anchor === undefined ? '' : `#${anchor}`}`
}

export const capitalised = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)

/** The place that the page after this one begins after. */
export const nextOf = <Row extends { id: string }>(page: {
  items: readonly Row[]
  hasMore: boolean
}): string | undefined => (page.hasMore ? page.items.at(-1)?.id : undefined)
