/** Answers with a page, a fragment for htmx, or a redirect after a form. */

import { addCookie, deleteBrief, readCookie, writeBrief } from '../http/cookies.ts'
import { pageHeaders } from '../http/standing-headers.ts'
import { HtmlAnswer } from './html-answer.ts'
import type { Markup } from './jsx-runtime.ts'
import { renderChild } from './jsx-runtime.ts'
import type { Page } from './layout.tsx'
import { type Reader, themeOf } from './theme.ts'
import { type Done, doneText, readDone, ToastPart } from './toast.tsx'

/** What of Elysia's context an answer in HTML reads and writes. */
export type ReplyContext = {
  request: Request
  set: { headers: Record<string, unknown>; status?: number | string }
}

/** A page, or what an action did. */
export type View =
  /** `fragment` is what htmx gets instead of the whole main part. */
  | { page: Page; fragment?: Markup; status?: number }
  /**
   * An action: htmx gets the panel it changed, a plain form is sent where the change is seen.
   * `done` is said there.
   */
  | { fragment: Markup; seeOther: string; done?: Done }

/**
 * The answer in HTML: a fragment to htmx, a whole page to a plain browser, 303 after a plain form.
 * `({ request, set }) => reply({ request, set }, { page: dashboardPage({ … }) })`. Whether the
 * caller wants JSON, the door decides before.
 */
export function reply({ request, set }: ReplyContext, view: View): HtmlAnswer | '' {
  Object.assign(set.headers, pageHeaders)
  const part = wantsFragment(request)
  if ('seeOther' in view) {
    if (part) return fragmentOf({ request, set }, view)
    if (view.done && navigates(request)) {
      addCookie(set.headers, writeBrief('done', doneText(view.done), { ...brief, maxAgeS: 60 }))
    }
    return sendOn({ set }, view.seeOther)
  }
  if (view.status !== undefined) set.status = view.status
  const { page, fragment } = view
  if (part) {
    const html = fragment ? renderChild(fragment) : mainOf(page)
    return new HtmlAnswer(() => (page.trim ? page.trim(html) : html))
  }
  const done = readDone(readCookie(request.headers, 'done', ''))
  if (done) addCookie(set.headers, deleteBrief('done', brief))
  return new HtmlAnswer(() => page.html({ ...readerOf(request), done }))
}

/** Sends a reader on to another page. */
export function sendOn({ set }: Pick<ReplyContext, 'set'>, path: string): '' {
  set.headers['location'] = path
  set.status = 303
  return ''
}

/** The main part of a page for htmx, which takes the title out of it. */
const mainOf = ({ main, title }: Page): string =>
  `${renderChild(main)}<title>${Bun.escapeHTML(title)}</title>`

/** Of the cookie that says what was done. Not `Secure`: it is not secret. */
const brief = { baseUrl: '', path: '/dashboard' }

type ActionView = Extract<View, { seeOther: string }>

/** A part of the page for htmx; where an action leads to another address, that is pushed. */
function fragmentOf(context: ReplyContext, { fragment, seeOther, done }: ActionView): HtmlAnswer {
  const { method } = context.request
  if (method !== 'GET') pushAddress(context, seeOther.replace(/#.*$/s, ''))
  const said = done ? renderChild(ToastPart({ done })) : ''
  const html = renderChild(fragment) + said
  return new HtmlAnswer(() => html)
}

/**
 * Whether a browser will show the answer under the address it asked. After a post it is sent on
 * then, so that a reload repeats nothing. Programs do not say so.
 */
export const navigates = (request: Request): boolean =>
  request.headers.get('sec-fetch-mode') === 'navigate' && !isHtmx(request)

/** Tells htmx which address a list now has that it changed in place. */
export function pushAddress({ request, set }: ReplyContext, address: string): void {
  const at = URL.parse(request.headers.get('hx-current-url') ?? '')
  if (at && at.pathname + at.search !== address) set.headers['hx-push-url'] = address
}

/** What a page must know of its reader. */
export const readerOf = (request: Request): Reader => ({
  theme: themeOf(request),
  path: request.url.slice(request.url.indexOf('/', 8)),
})

/** Whether htmx asks, for a part or for a whole page. */
export const isHtmx = ({ headers }: Request): boolean => headers.get('hx-request') === 'true'

/** htmx asks for a part unless it fills the body or selects from a whole page. */
const wantsFragment = (request: Request): boolean =>
  isHtmx(request) && request.headers.get('hx-request-type') !== 'full'
