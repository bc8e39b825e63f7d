/** Mounts a list of an account: its page, its twin for programs and htmx, and its CSV file. */
import { Elysia } from 'elysia'
import type { Deps } from '../../../app/deps-port.ts'
import type { Actor, Right } from '../../../kernel/acting.ts'
import { type PageRequest, toFilteredView } from '../../../kernel/pagination.ts'
import { type CsvFields, csvStep, listAsCsv } from '../../../web/http/csv-download.ts'
import { downloadResponse } from '../../../web/http/download.ts'
import { listQuery, queryOf } from '../../../web/http/query.ts'
import type { pageFields, Query, rowFields } from '../../../web/http/query-fields.ts'
import type { Frame } from '../../../web/ui/frame.ts'
import {
  isFollowed,
  type Listed,
  type ListLook,
  ListPage,
  ListPanel,
  readListed,
} from '../../../web/ui/list-page.tsx'
import { capitalised } from '../../../web/ui/paged-list.tsx'
import { sessionAuth } from '../needs-session.ts'
import { viewRoutes } from './view-routes.tsx'

type RowPage<Row> = { items: Row[]; next: string | undefined }

/** The rows that match a filter. */
export type ListSource<Row> = {
  /** Newest first. */
  list: (page: PageRequest) => Promise<RowPage<Row>>
  listCostliest: (limit: number) => Promise<RowPage<Row>>
  /** The row that is named whole, which is then the list; undefined where none is named. */
  named?: () => Promise<Row[] | undefined>
  /** @throws Refusal 'invalid_request' unless a page can begin after it. */
  assertPlace: (after: string) => Promise<void>
}

type RowQuery = Query<ReturnType<typeof pageFields> & ReturnType<typeof rowFields>>

type ListParts<Row, More> = {
  /** The name in paths and of the rows: "runs". */
  name: string
  right: Right
  query: RowQuery
  look: (view: More & Pick<Listed<Row>, 'now' | 'query'>) => ListLook<Row>
  /** The parts of the look beside the rows. */
  readMore: (acting: Actor) => Promise<More>
  /** @throws Refusal 'invalid_request' for a filter that cannot be read */
  open: (acting: Actor, query: URLSearchParams) => Promise<ListSource<Row>>
  toView: (row: Row) => { id: string }
  file: CsvFields<Row>
}

export const listRoutes = <Row, More>(deps: Deps, frame: Frame, of: ListParts<Row, More>) => {
  const { name, right, look } = of
  const read = async (acting: Actor, asked: URLSearchParams): Promise<RowPage<Row>> => {
    const { limit, after, sort } = of.query.readForm(asked)
    const source = await of.open(acting, asked)
    const named = await source.named?.()
    if (named) return { items: named, next: undefined }
    if (after !== undefined) await source.assertPlace(after)
    return sort === 'costliest' ? source.listCostliest(limit) : source.list({ limit, after })
  }
  const viewOf = async (acting: Actor, query: URLSearchParams): Promise<Listed<Row> & More> => {
    const asked = { account: acting.account, now: deps.clock.now(), query, of: of.query }
    const more = await of.readMore(acting)
    return { ...more, ...(await readListed(asked, () => read(acting, listQuery(query)))) }
  }
  return new Elysia({ name: `${name}-list` })
    .use(
      viewRoutes(deps, frame, {
        ...{ name, title: capitalised(name), right, isFiltered: true },
        read: ({ acting, query }) => viewOf(acting, query),
        page: (view) => <ListPage view={view} look={look(view)} />,
        panel: (view) => <ListPanel view={view} look={look(view)} />,
        scripts: (view) => (isFollowed(view) ? ['live-list'] : []),
        refusalOf: ({ refusal }) => refusal,
        json: async ({ acting, query }) => {
          // Programs send and get days of UTC.
          const { items, next } = await read({ ...acting, zone: undefined }, query)
          return toFilteredView(items.map(of.toView), next)
        },
      }),
    )
    .use(sessionAuth(deps))
    .get(
      `/dashboard/${name}.csv`,
      async ({ request, server, set, acting }) => {
        // All that match, whatever the page of the list and its order.
        // A file names times of UTC, and so do the dates of its address.
        const source = await of.open({ ...acting, zone: undefined }, queryOf(request))
        const file = listAsCsv((after) => source.list({ limit: csvStep, after }), {
          fileName: `counterfoil-${name}.csv`,
          fields: of.file,
          take: () => deps.exportSlots.take(acting.account),
        })
        const onBug = (error: unknown) => deps.log.error(`${name}.export_failed`, error)
        return downloadResponse({ request, server, set }, file, { onBug })
      },
      { needsSession: { page: right } },
    )
}
