import type { Shown, ShowRefusal } from '../http/front.ts'
import type { Refusal } from '../kernel/refusal.ts'
import { ButtonLink } from './button.tsx'
import type { Frame } from './frame.ts'
import { renderChild } from './jsx-runtime.ts'
import { publicPage } from './layout.tsx'
import { ErrorNote } from './notice.tsx'
import { pageHeaders } from './reply.ts'
import { Rosette } from './rosette.tsx'
import { isSafeUrl } from './safe-url.ts'
import { themeOf } from './theme.ts'

/**
 * How people see a no: a note that lands in place for htmx, a page of its own for a plain browser.
 * Who is not signed in is sent to the sign-in, and comes back after it.
 */
export const refusalPages =
  (frame: Frame): ShowRefusal =>
  (refusal, { request, requestId, wants }) => {
    const isGuest = refusal.type === 'session_required'
    if (wants === 'fragment') {
      const headers: Record<string, string> = isGuest
        ? { 'hx-redirect': signInUrl(currentPath(request)) }
        : {}
      return { html: renderChild(fragmentOf(refusal, requestId)), headers: htmlHeaders(headers) }
    }
    if (isGuest) return toSignIn(request)
    const page = publicPage({
      frame,
      title: titleOf(refusal),
      here: '',
      main: <RefusalPage refusal={refusal} requestId={requestId} />,
    })
    const path = pathOf(request.url)
    return { html: page.html({ theme: themeOf(request), path }), headers: htmlHeaders({}) }
  }

const htmlHeaders = (headers: Record<string, string>) => ({ ...pageHeaders, ...headers })

function toSignIn(request: Request): Shown {
  // An action cannot be done again by going back to it.
  const next = request.method === 'GET' ? pathOf(request.url) : '/dashboard'
  return { html: '', status: 303, headers: htmlHeaders({ location: signInUrl(next) }) }
}

const signInUrl = (next: string): string => `/signin?next=${encodeURIComponent(next)}`

const pathOf = (url: string): string => url.slice(url.indexOf('/', 8))

/** The path of the page that htmx runs on. */
function currentPath({ headers }: Request): string {
  const url = headers.get('hx-current-url') ?? ''
  const path = /^https?:\/\/[^/]+(\/.*)$/.exec(url)?.[1] ?? ''
  return isSafeUrl('form', 'action', path) ? path : '/dashboard'
}

const fragmentOf = (refusal: Refusal, requestId: string) => (
  <ErrorNote
    what={refusal.message}
    charged={refusal.status === 402 ? 'Nothing was charged.' : null}
    requestId={requestId}
  />
)

type RefusalProps = { refusal: Refusal; requestId: string }

const RefusalPage = ({ refusal, requestId }: RefusalProps) => (
  <section class="sheet">
    <div class="empty">
      <Rosette hash={new Bun.CryptoHasher('sha256').update(refusal.type).digest('hex')} />
      <p class="quiet">{refusal.status}</p>
      <h1>{titleOf(refusal)}</h1>
      <p>{refusal.message}</p>
      <ButtonLink href="/">Go to the start page</ButtonLink>
      <p class="quiet">
        <small>
          Request <code>{requestId}</code>
        </small>
      </p>
    </div>
  </section>
)

function titleOf({ status }: Refusal): string {
  if (status === 404 || status === 410) return 'Nothing here'
  if (status === 401 || status === 403) return 'Not allowed'
  if (status === 402) return 'Not enough money'
  if (status === 405) return 'Not that way'
  if (status === 429) return 'Too many requests'
  if (status === 503) return 'Not available now'
  if (status >= 500) return 'Something broke on our side'
  return 'That did not work'
}
