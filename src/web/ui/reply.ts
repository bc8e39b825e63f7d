/** Answers with a page, a fragment for htmx, or a redirect after a form. */
import { HtmlAnswer } from './html-answer.ts'
import type { Markup } from './jsx-runtime.ts'
import { renderChild } from './jsx-runtime.ts'
import type { Page } from './layout.tsx'
import { type Reader, themeOf } from './theme.ts'

/** What of Elysia's context an answer in HTML reads and writes. */
export type ReplyContext = {
  request: Request
  set: { headers: Record<string, unknown>; status?: number | string }
}

/** A page, or what an action did. */
export type View =
  /** `fragment` is what htmx gets instead of the whole main part. */
  | { page: Page; fragment?: Markup; status?: number }
  /** An action: htmx gets the panel it changed, a plain form is sent where the change is seen. */
  | { fragment: Markup; seeOther: string }

/**
 * The answer in HTML: a fragment to htmx, a whole page to a plain browser, 303 after a plain form.
 * `({ request, set }) => reply({ request, set }, { page: dashboardPage({ … }) })`. Whether the
 * caller wants JSON, the door decides before.
 */
export function reply({ request, set }: ReplyContext, view: View): HtmlAnswer | '' {
  Object.assign(set.headers, pageHeaders)
  const part = wantsFragment(request)
  if ('seeOther' in view) {
    if (part) return new HtmlAnswer(renderChild(view.fragment))
    set.headers['location'] = view.seeOther
    set.status = 303
    return ''
  }
  if (view.status !== undefined) set.status = view.status
  const { page, fragment } = view
  return new HtmlAnswer(part ? renderChild(fragment ?? page.main) : page.html(readerOf(request)))
}

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

/** htmx asks for a part unless it fills the body or selects from a whole page. */
const wantsFragment = ({ headers }: Request): boolean =>
  headers.get('hx-request') === 'true' && headers.get('hx-request-type') !== 'full'

/** Of every answer in HTML, beside the headers that every answer has. */
export const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
    "connect-src 'self'; font-src 'self'; manifest-src 'self'; form-action 'self'; " +
    "base-uri 'none'; frame-ancestors 'none'",
  // Wallets open windows that must find their opener.
  'cross-origin-opener-policy': 'same-origin-allow-popups',
  'cross-origin-resource-policy': 'same-origin',
  vary: 'HX-Request, HX-Request-Type, Accept-Encoding',
}
