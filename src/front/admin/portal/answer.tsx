/** Helpers of the operator's routes: pages, answers and input. */
import { wantsJson, wantsPage } from '../../../access/accounts/needs-session.ts'
import type { Acting } from '../../../kernel/acting.ts'
import type { Json } from '../../../kernel/canonical.ts'
import type { Frame } from '../../../web/ui/frame.ts'
import type { Markup } from '../../../web/ui/jsx-runtime.ts'
import type { Page } from '../../../web/ui/layout.tsx'
import { type ReplyContext, reply } from '../../../web/ui/reply.ts'
import { adminPage } from './admin-frame.tsx'

/** Largest body, in bytes. */
export const bodyBytes = 16_384

type Shown = { title: string; tab: string; main: Markup }

/** Replies with an operator page. */
export const show = (
  frame: Frame,
  { request, set, acting }: ReplyContext & { acting: Acting },
  { title, tab, main }: Shown,
) => {
  const page: Page = adminPage({ frame, acting, title, tab, children: main })
  return reply({ request, set }, { page })
}

type Answer = { json: () => unknown; fragment: Markup; seeOther: string }

/** Replies to a list or an action: JSON to a script, a fragment to htmx, 303 to a plain form. */
export const answer = ({ request, set }: ReplyContext, { json, fragment, seeOther }: Answer) =>
  isList(request) ? json() : reply({ request, set }, { fragment, seeOther })

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
