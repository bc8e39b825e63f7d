/** Mounts a page of an account, and the same for programs and htmx under `/api/portal`. */
import { Elysia } from 'elysia'
import type { Deps } from '../../../app/deps-port.ts'
import type { Actor, Right } from '../../../kernel/acting.ts'
import type { Refusal } from '../../../kernel/refusal.ts'
import type { SessionRow } from '../../../storage/db/schema/schema.ts'
import { addressOf, listQuery, queryOf, tidyAddress } from '../../../web/http/query.ts'
import type { Frame } from '../../../web/ui/frame.ts'
import type { Markup } from '../../../web/ui/jsx-runtime.ts'
import { dashboardPage } from '../../../web/ui/layout.tsx'
import { isHtmx, pushAddress, reply, sendOn } from '../../../web/ui/reply.ts'
import { sessionAuth, wantsPage } from '../needs-session.ts'

/** The caller of a view, and the query that narrows it. */
export type ViewRequest = {
  acting: Actor
  session: SessionRow
  query: URLSearchParams
}

type ViewParts<View> = {
  /** The name in paths: `/dashboard/<name>` and `/api/portal/<name>`. */
  name: string
  title: string
  right: Right
  read: (asked: ViewRequest) => Promise<View>
  page: (view: View) => Markup
  /** The part that htmx replaces. */
  panel: (view: View) => Markup
  json: (asked: ViewRequest) => unknown
  scripts?: (view: View) => string[]
  /** Whether a browser that opens the twin is sent on to the page; else it shows the JSON. */
  sendsOn?: boolean
  /** Why the view is not what was asked for. The page shows it itself. */
  refusalOf?: (view: View) => Refusal | undefined
}

/** The page and its twin. */
export const viewRoutes = <View,>(
  deps: Deps,
  frame: Frame,
  of: ViewParts<View> & {
    /** Whether a form narrows it: the address then leaves out empty fields, and follows htmx. */
    isFiltered?: boolean
  },
) => {
  const { name, title, right } = of
  const path = `/dashboard/${name}`
  // A filter keeps its address as it is, and reads its own number of rows.
  const rowsOf = of.isFiltered ? (query: URLSearchParams) => query : listQuery
  return new Elysia({ name: `${name}-view` })
    .use(sessionAuth(deps))
    .get(
      path,
      async ({ request, set, session, acting }) => {
        const query = queryOf(request)
        const tidy = of.isFiltered ? tidyAddress(path, query) : undefined
        if (tidy !== undefined && !isHtmx(request)) return sendOn({ set }, tidy)
        const view = await of.read({ acting, session, query: rowsOf(query) })
        if (of.isFiltered && isHtmx(request)) {
          pushAddress({ request, set }, tidy ?? addressOf(path, query))
        }
        const shown = { frame, title, here: path, acting, main: of.page(view) }
        const page = dashboardPage({ ...shown, scripts: of.scripts?.(view) ?? [] })
        const refusal = of.refusalOf?.(view)
        const status = refusal ? { status: refusal.status } : {}
        return reply({ request, set }, { page, fragment: of.panel(view), ...status })
      },
      { needsSession: { page: right } },
    )
    .get(
      `/api/portal/${name}`,
      async ({ request, set, session, acting }) => {
        const asked = { acting, session, query: queryOf(request) }
        const isSentOn = of.sendsOn && wantsPage(request)
        if (!isHtmx(request) && !isSentOn) return of.json(asked)
        const view = await of.read({ ...asked, query: rowsOf(asked.query) })
        const refusal = of.refusalOf?.(view)
        if (refusal) throw refusal
        return reply(
          { request, set },
          { fragment: of.panel(view), seeOther: addressOf(path, asked.query) },
        )
      },
      { needsSession: { action: right } },
    )
}
