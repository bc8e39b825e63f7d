/** Helpers of the operator's routes: pages, answers and input. */
import { Elysia } from 'elysia'
import { wantsJson, wantsPage } from '../../../access/accounts/needs-session.ts'
import type { Deps } from '../../../app/deps-port.ts'
import type { Actor } from '../../../kernel/acting.ts'
import type { Json } from '../../../kernel/canonical.ts'
import { listQuery, queryOf } from '../../../web/http/query.ts'
import type { Frame } from '../../../web/ui/frame.ts'
import type { Markup } from '../../../web/ui/jsx-runtime.ts'
import type { Page } from '../../../web/ui/layout.tsx'
import { isHtmx, type ReplyContext, reply } from '../../../web/ui/reply.ts'
import { adminAuth } from '../needs-admin.ts'
import { adminPage } from './admin-frame.tsx'

/** Largest body, in bytes. */
export const bodyBytes = 16_384

type AdminPage = { title: string; tab: string; main: Markup }

/** Replies with an operator page. */
export const show = (
  frame: Frame,
  { request, set, acting }: ReplyContext & { acting: Actor },
  { title, tab, main }: AdminPage,
) => {
  const page: Page = adminPage({ frame, acting, title, tab, children: main })
  return reply({ request, set }, { page })
}

type Answer = { json: () => unknown; fragment: Markup; seeOther: string }

/** Replies to a list or an action: JSON to a script, a fragment to htmx, 303 to a plain form. */
export const answer = ({ request, set }: ReplyContext, { json, fragment, seeOther }: Answer) =>
  isList(request) ? json() : reply({ request, set }, { fragment, seeOther })

type AdminView<View> = {
  title: string
  /** The path of the page: `/dashboard/admin/…`. */
  tab: string
  read: (query: URLSearchParams) => Promise<View>
  /** The part that htmx replaces. */
  panel: (view: View) => Markup
  /** The whole page, where it has more than that. */
  page?: (view: View) => Promise<Markup>
  json: (view: View) => unknown
}

/** A page of the operator, and the same as JSON and for htmx under `/api/portal`. */
export const adminView = <View,>(deps: Deps, frame: Frame, of: AdminView<View>) =>
  new Elysia({ name: `${of.tab}-view` })
    .use(adminAuth(deps))
    .get(
      of.tab,
      async ({ request, set, acting }) => {
        const view = await of.read(listQuery(queryOf(request)))
        const main = of.page ? await of.page(view) : of.panel(view)
        return show(frame, { request, set, acting }, { title: of.title, tab: of.tab, main })
      },
      { needsAdmin: 'page' },
    )
    .get(
      of.tab.replace('/dashboard', '/api/portal'),
      async ({ request, set }) => {
        const query = queryOf(request)
        const view = await of.read(isHtmx(request) ? listQuery(query) : query)
        // Refuses what htmx asks as it refuses programs.
        const json = of.json(view)
        const fragment = of.panel(view)
        return answer({ request, set }, { json: () => json, fragment, seeOther: of.tab })
      },
      { needsAdmin: 'action' },
    )

/** A browser that opens a list's address sees the JSON. */
const isList = (request: Request): boolean =>
  wantsJson(request) || (request.method === 'GET' && wantsPage(request))

/** Trims every string member: pasted text often has spaces around it. */
export const trimmed = (value: Json): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(
        Object.entries(value).map(([name, one]) => [
          name,
          typeof one === 'string' ? one.trim() : one,
        ]),
      )
    : value
