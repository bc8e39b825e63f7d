/** Shows a refusal to people: a note in place for htmx, a whole page for a plain browser. */
import { type Actor, homes, may } from '../../kernel/acting.ts'
import type { Refusal } from '../../kernel/refusal.ts'
import type { ShowRefusal } from '../http/error-answers.ts'
import { ButtonLink } from './button.tsx'
import { Empty } from './empty.tsx'
import type { Frame } from './frame.ts'
import { renderChild } from './jsx-runtime.ts'
import { dashboardPage, publicPage } from './layout.tsx'
import { ErrorNote } from './notice.tsx'
import { PageHead } from './panel.tsx'
import { pageHeaders, readerOf } from './reply.ts'
import { Rosette } from './rosette.tsx'

export const refusalPages =
  (frame: Frame): ShowRefusal =>
  (refusal, { request, requestId, wants, reader }) => {
    if (wants === 'fragment') {
      return { html: renderChild(fragmentOf(refusal, requestId)), headers: pageHeaders }
    }
    const acting = refusal.detail.reader ?? reader
    if (acting !== undefined) {
      // A page that is not shown to this person must not look otherwise than one that is missing.
      const isHidden = refusal.detail.reader !== undefined && refusal.status === 404
      const page = dashboardPage({
        frame,
        title: titleOf(refusal),
        here: isHidden ? '' : placeIn(frame, request),
        acting,
        main: <Framed refusal={refusal} requestId={requestId} acting={acting} />,
      })
      return { html: page.html(readerOf(request)), headers: pageHeaders }
    }
    const page = publicPage({
      frame,
      title: titleOf(refusal),
      here: '',
      isUnlisted: true,
      main: <RefusalPage refusal={refusal} requestId={requestId} />,
    })
    return { html: page.html(readerOf(request)), headers: pageHeaders }
  }

const fragmentOf = (refusal: Refusal, requestId: string) => (
  <ErrorNote
    what={refusal.message}
    charged={refusal.status === 402 ? 'Nothing was charged.' : null}
    requestId={requestId}
  />
)

/** The entry of the navigation that a page or an action belongs to. */
function placeIn({ nav }: Frame, request: Request): string {
  const { path } = readerOf(request)
  const at = path.replace(/^\/api\/portal\//, '/dashboard/')
  return nav.find(({ href }) => href !== '/dashboard' && at.startsWith(href))?.href ?? ''
}

type FramedProps = RefusalProps & { acting: Actor }

/** The page for a signed-in person: the frame, and links to go on. */
const Framed = ({ refusal, requestId, acting }: FramedProps) => (
  <>
    <PageHead title={titleOf(refusal)} />
    <section class="sec" id="missing">
      <Empty
        hash={acting.account}
        title={whatOf(refusal)}
        action={<WaysOn acting={acting} status={refusal.status} />}
      >
        {adviceOf(refusal)}
      </Empty>
      <footer>
        <span>
          Error {refusal.status}, request <code>{requestId}</code>
        </span>
      </footer>
    </section>
  </>
)

const WaysOn = ({ acting, status }: { acting: Actor; status: number }) => (
  <div class="row">
    <ButtonLink href={homes[acting.role]} look="go">
      {may(acting, 'overview:read') ? 'Overview' : 'Go on'}
    </ButtonLink>
    {status >= 500 ? <ButtonLink href="/status">Status</ButtonLink> : null}
    {status === 404 && may(acting, 'runs:read') ? (
      <ButtonLink href="/dashboard/runs">Find a run by its id</ButtonLink>
    ) : null}
    <ButtonLink href="/docs">Docs</ButtonLink>
  </div>
)

/** A `not_found` without a message of its own means an unknown path. */
function whatOf({ type, detail, message }: Refusal): string {
  if (type === 'internal_error') return 'This request could not be answered.'
  return type === 'not_found' && detail.message === undefined ? 'There is no such page.' : message
}

function adviceOf({ status }: Refusal): string {
  if (status === 404) return 'It may have moved, or the address has a typo.'
  if (status === 409)
    return 'It may have changed since you opened this page. Go back and reload it.'
  if (status === 400) return 'Go back, change what you entered and send it again.'
  return status >= 500
    ? 'Try again in a minute. If it goes on, tell the operator the request id.'
    : ''
}

type RefusalProps = { refusal: Refusal; requestId: string }

const RefusalPage = ({ refusal, requestId }: RefusalProps) => (
  <section class="sec">
    <div class="empty">
      <Rosette hash={new Bun.CryptoHasher('sha256').update(refusal.type).digest('hex')} plain />
      <h1>{titleOf(refusal)}</h1>
      <p>
        {whatOf(refusal)} {refusal.status >= 500 ? adviceOf(refusal) : null}
      </p>
      <div class="row">
        <ButtonLink href="/" look="go">
          Go to the start page
        </ButtonLink>
        {refusal.status >= 500 ? <ButtonLink href="/status">Status</ButtonLink> : null}
        {refusal.status === 404 ? <OtherPlaces of={refusal} /> : null}
      </div>
      <p class="quiet">
        <small>
          Error {refusal.status}, request <code>{requestId}</code>
        </small>
      </p>
    </div>
  </section>
)

/** Links to the pages that may have the missing thing. */
const OtherPlaces = ({ of }: { of: Refusal }) => (
  <>
    <ButtonLink href="/explorer">Search the explorer</ButtonLink>
    {of.type === 'receipt_not_found' ? (
      <ButtonLink href="/verify">Verify its file</ButtonLink>
    ) : (
      <ButtonLink href="/docs">Docs</ButtonLink>
    )}
  </>
)

function titleOf({ status }: Refusal): string {
  if (status === 404 || status === 410) return 'Nothing here'
  if (status === 401 || status === 403) return 'Not allowed'
  if (status === 402) return 'Not enough money'
  if (status === 405) return 'Method not allowed'
  if (status === 429) return 'Too many requests'
  if (status === 503) return 'Not available right now'
  if (status >= 500) return 'Something broke on our side'
  return 'That did not work'
}
