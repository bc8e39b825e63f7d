/** Tables of ruled rows that can grow; where space is short each row is two lines. */
import { dateIn, dayStart, type ZoneName } from '../../kernel/zone.ts'
import type { Child } from './jsx-runtime.ts'

export type Column<Row> = {
  head: Child
  cell: (row: Row) => Child
  /** What all rows come to, in a last line that is there when any column has one. */
  total?: Child
  /**
   * `number`: right-aligned figures. `money`: prices of few digits below a cent, headed above their
   * points. `optional` is left out of two lines, `spare` goes before.
   * `unnamed`: readers alone hear its head.
   */
  kind?: keyof typeof classes
  /**
   * Where it stands in two lines: `mark`, `what`, `cost` and `act` in the first, optional or not,
   * `who`, `state` and `when` in the second. Without it the first column is `what`, what is not
   * optional stands in the second line behind its head, and the rest is left out.
   */
  at?: Place
}

type Place = 'mark' | 'what' | 'who' | 'act' | 'cost' | 'state' | 'more' | 'when'

type TableProps<Row> = {
  /** What it lists; readers hear it, the eye has the panel's title. */
  caption: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  /** Of the body, where htmx puts new rows. */
  bodyId?: string
  /** Of a row that htmx replaces. */
  rowId?: (row: Row) => string
  /** The rows, where some differ from plain ones. */
  body?: Child
  fold?: Fold | undefined
  /** Heads of days between the rows. */
  days?: Days<Row> | undefined
}

/** The moment of a row, and the head of its day in a zone, which begins at `day`. */
export type Days<Row> = {
  zone: ZoneName
  at: (row: Row) => number
  head: (day: number) => { name: Child; sums: Child }
}

/** Below which width a row is two lines: 56, 46 or 36 rem of its own place; default `mid`. */
export type Fold = 'early' | 'mid' | 'late'

/**
 * Ruled rows of 36 px. Where one has no room it is two lines and keeps when it happened: nothing is
 * cut off. A row whose first link has the class `to` is that link.
 */
export const Table = <Row,>({ caption, columns, rows, fold = 'mid', ...more }: TableProps<Row>) => (
  <section class="scroll" tabindex="0" aria-label={`Table: ${caption}`}>
    <table class={['ruled two', fold]}>
      <thead>
        <tr>
          {columns.map(({ head, kind }, i) => (
            <th scope="col" class={classOf(kind)} data-at={placeOf(columns, i)}>
              {kind === 'unnamed' ? <span class="vh">{head}</span> : head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody id={more.bodyId}>
        {more.body ??
          rows.map((row, i) => (
            <>
              {more.days ? (
                <DayHead days={more.days} of={row} after={rows[i - 1]} columns={columns.length} />
              ) : null}
              <TableRow columns={columns} row={row} id={more.rowId?.(row)} />
            </>
          ))}
      </tbody>
      {columns.some(({ total }) => total !== undefined) ? <Totals columns={columns} /> : null}
    </table>
  </section>
)

type DayHeadProps<Row> = { days: Days<Row>; of: Row; after: Row | undefined; columns: number }

/** A bar above the first row of a day; a script puts new rows of that day below it. */
function DayHead<Row>({ days, of, after, columns }: DayHeadProps<Row>) {
  const dayOf = (row: Row) => dayStart(days.zone, days.at(row))
  const day = dayOf(of)
  if (after !== undefined && dayOf(after) === day) return null
  const { name, sums } = days.head(day)
  return (
    <tr class="day" data-day={dateIn(days.zone, day)}>
      <th scope="rowgroup" colspan={String(columns)}>
        <span>
          <b>{name}</b>
          <span>{sums}</span>
        </span>
      </th>
    </tr>
  )
}

const Totals = <Row,>({ columns }: { columns: readonly Column<Row>[] }) => (
  <tfoot>
    <tr>
      {columns.map(({ total, kind }, i) =>
        i === 0 ? (
          <th scope="row">{total}</th>
        ) : (
          <td class={classOf(kind)} data-at={placeOf(columns, i)} data-label={labelOf(columns, i)}>
            {total}
          </td>
        ),
      )}
    </tr>
  </tfoot>
)

type RowProps<Row> = {
  columns: readonly Column<Row>[]
  row: Row
  id?: string | undefined
  /** Arrived while the page was open: it flashes once. */
  fresh?: boolean
}

/** One row, for a list that grows while it is looked at. */
export const TableRow = <Row,>({ columns, row, id, fresh }: RowProps<Row>) => (
  <tr id={id} class={fresh ? 'new' : undefined}>
    {columns.map(({ cell, kind }, i) => (
      <td class={classOf(kind)} data-at={placeOf(columns, i)} data-label={labelOf(columns, i)}>
        {cell(row)}
      </td>
    ))}
  </tr>
)

/** A row of one cell over all columns. */
export const WideRow = ({ columns, fresh, ...more }: WideRowProps) => (
  <tr class={['wide', fresh && 'new']} data-fold={more.fold}>
    <td colspan={String(columns)} data-at="what">
      {more.children}
    </td>
  </tr>
)

type WideRowProps = {
  /** How many there are. */
  columns: number
  fresh?: boolean | undefined
  /** Of how many receipts, where it folds some. */
  fold?: string
  children: Child
}

const classes = {
  number: 'num',
  money: 'num money',
  optional: 'opt',
  'optional-number': 'num opt',
  'optional-money': 'num money opt',
  spare: 'opt spare',
  'spare-money': 'num money opt spare',
  unnamed: undefined,
} as const

const classOf = (kind: keyof typeof classes | undefined): string | undefined =>
  kind === undefined ? undefined : classes[kind]

/** A cell's place in two lines; undefined where it is left out. */
function placeOf<Row>(columns: readonly Column<Row>[], i: number): Place | undefined {
  const { at, kind } = columns[i] ?? {}
  if (at) return at
  if (kind?.startsWith('spare') || kind?.startsWith('optional')) return undefined
  if (kind === 'unnamed') return i === 0 ? 'what' : 'act'
  return i === 0 && !columns.some((column) => column.at === 'what') ? 'what' : 'more'
}

/** The name of a figure that has lost its column. */
function labelOf<Row>(columns: readonly Column<Row>[], i: number): string | undefined {
  const head = columns[i]?.head
  return placeOf(columns, i) === 'more' && typeof head === 'string' ? head : undefined
}

type PagerProps = {
  /** "Showing 20 of 1,284", a file of all rows. */
  children?: Child
  /** The next page of older entries; undefined at the end. */
  older?: string | undefined
  /** Back to the newest; undefined when they are shown. */
  newest?: string | undefined
}

/** The foot of a list that goes by `after=<id>`. */
export const Pager = ({ children, older, newest }: PagerProps) => (
  <>
    <span>{children}</span>
    <span class="row">
      {newest === undefined ? null : (
        <a class="btn small" href={newest}>
          Newest
        </a>
      )}
      {older === undefined ? null : (
        <a class="btn small" href={older} rel="next">
          Older
        </a>
      )}
    </span>
  </>
)
