/** The sessions of an account: the page and `/api/portal/sessions`. */
import { Elysia } from 'elysia'
import type { Deps } from '../../app/deps-port.ts'
import type { Millis } from '../../kernel/clock.ts'
import { isId } from '../../kernel/ids.ts'
import { maxPageLimit, type Page, toListView } from '../../kernel/pagination.ts'
import { refuse } from '../../kernel/refusal.ts'
import type { SessionRow } from '../../storage/db/schema/schema.ts'
import { deleteCookie } from '../../web/http/cookies.ts'
import { readPage } from '../../web/http/query.ts'
import { Button, ButtonLink } from '../../web/ui/button.tsx'
import { ConfirmPage } from '../../web/ui/confirm.tsx'
import { ActionForm } from '../../web/ui/form.tsx'
import type { Frame } from '../../web/ui/frame.ts'
import { dashboardPage } from '../../web/ui/layout.tsx'
import { List, nextOf } from '../../web/ui/paged-list.tsx'
import { PageHead } from '../../web/ui/panel.tsx'
import { reply, sendOn } from '../../web/ui/reply.ts'
import { Badge } from '../../web/ui/status.tsx'
import type { Column } from '../../web/ui/table.tsx'
import { When } from '../../web/ui/when.tsx'
import { browserName } from './browser-name.ts'
import { sessionAuth, wantsJson } from './needs-session.ts'
import { type ViewRequest, viewRoutes } from './portal/view-routes.tsx'
import { endOf, toSessionView } from './session.ts'
import { auditOf } from './sign-in.ts'

const path = '/dashboard/sessions'
/** The confirmation before all other sessions end. */
const othersPath = `${path}/others`
/** How many sessions the confirmation names. */
const namedMax = 5

export const sessionsPortal = (deps: Deps, frame: Frame) => {
  const { sessions, clock, settings } = deps

  const read = async ({
    session: own,
    query,
  }: Pick<ViewRequest, 'session' | 'query'>): Promise<SessionList> => {
    const page = readPage(query)
    const { accountId } = own
    if (page.after !== undefined && !(await findOwn(deps, accountId, page.after))) {
      refuse('invalid_request', { message: 'There is no such session.', param: 'after' })
    }
    const now = clock.now()
    const found = await sessions.list(accountId, page, now)
    return { own, now, found, isFirst: page.after === undefined }
  }
  const panel = async (session: SessionRow) => (
    <SessionsPanel of={await read({ session, query: new URLSearchParams() })} />
  )

  return new Elysia({ name: 'sessions-portal' })
    .use(
      viewRoutes(deps, frame, {
        name: 'sessions',
        title: 'Sessions',
        right: 'self',
        read,
        page: (listed) => (
          <>
            <PageHead title="Sessions" />
            <SessionsPanel of={listed} />
          </>
        ),
        panel: (listed) => <SessionsPanel of={listed} />,
        json: async (asked) => {
          const { found } = await read(asked)
          const items = found.items.map((row) => toSessionView(row, asked.session))
          return toListView({ items, hasMore: found.hasMore })
        },
      }),
    )
    .use(sessionAuth(deps))
    .get(
      othersPath,
      async ({ request, set, acting, session }) => {
        const found = await sessions.list(
          session.accountId,
          { limit: maxPageLimit, after: undefined },
          clock.now(),
        )
        const others = found.items.filter(({ id }) => id !== session.id)
        if (others.length === 0) return sendOn({ set }, path)
        const main = <ConfirmOthers others={others} hasMore={found.hasMore} />
        const page = dashboardPage({ frame, title: 'Sessions', here: path, acting, main })
        return reply({ request, set }, { page })
      },
      { needsSession: { page: 'self' } },
    )
    .post(
      '/api/portal/sessions/others/revoke',
      async ({ request, set, session, visitor }) => {
        const { accountId } = session
        const what = { action: 'session.revoke_others', accountId, subject: session.id }
        const revoked = await sessions.endOthers(session, auditOf(deps, visitor, what))
        if (wantsJson(request)) return { revoked }
        const done = { what: 'sessions_ended' } as const
        return reply({ request, set }, { fragment: await panel(session), seeOther: path, done })
      },
      { needsSession: { action: 'self' }, parse: 'none' },
    )
    .post(
      '/api/portal/sessions/:id/revoke',
      async ({ params, request, set, session, visitor }) => {
        const { accountId } = session
        const found = (await findOwn(deps, accountId, params.id)) ?? refuse('not_found')
        const what = { action: 'session.revoke', accountId, subject: found.id }
        await sessions.end(found, auditOf(deps, visitor, what))
        if (found.id === session.id) {
          set.headers['set-cookie'] = deleteCookie('sid', settings.baseUrl)
        }
        if (wantsJson(request)) return toSessionView(found, session)
        const done = { what: 'session_ended' } as const
        return reply({ request, set }, { fragment: await panel(session), seeOther: path, done })
      },
      { needsSession: { action: 'self' }, parse: 'none' },
    )
}

const findOwn = (
  { sessions, clock }: Pick<Deps, 'sessions' | 'clock'>,
  account: string,
  id: string,
) => (isId('sess', id) ? sessions.get(account, id, clock.now()) : undefined)

type SessionList = { own: SessionRow; now: Millis; found: Page<SessionRow>; isFirst: boolean }

function SessionsPanel({ of: { own, now, found, isFirst } }: { of: SessionList }) {
  const others = found.items.filter(({ id }) => id !== own.id).length
  return (
    <List
      id="sessions"
      title="Where you are signed in"
      noun="sessions"
      items={found.items}
      columns={columnsFor(own, now)}
      href={path}
      next={nextOf(found)}
      isFirst={isFirst}
      hash={own.accountId}
      aside={others > 0 ? <SignOutOthers /> : null}
    />
  )
}

const SignOutOthers = () => (
  <ButtonLink small look="bad" href={othersPath}>
    Sign out everywhere else
  </ButtonLink>
)

type OthersProps = { others: readonly SessionRow[]; hasMore: boolean }

function ConfirmOthers({ others, hasMore }: OthersProps) {
  const what = others.length === 1 ? '1 session' : `${others.length}${hasMore ? '+' : ''} sessions`
  const unnamed = others.length - namedMax
  const noun = unnamed === 1 && !hasMore ? 'other' : 'others'
  return (
    <ConfirmPage
      head="Sessions"
      id="others"
      title="Sign out everywhere else?"
      consequence={
        <>
          This ends <strong>{what} at once</strong>. Those browsers must sign in with your wallet
          again. This browser stays signed in, and keys keep working.
        </>
      }
      affected={[
        ...others.slice(0, namedMax).map(({ userAgent, clientAddress }) => (
          <>
            {browserName(userAgent)}, <code>{clientAddress}</code>
          </>
        )),
        ...(unnamed > 0 ? [`and ${unnamed}${hasMore ? ' or more' : ''} ${noun}`] : []),
      ]}
      action="/api/portal/sessions/others/revoke"
      button={`Sign out ${what}`}
      keep="Cancel"
      keepHref={path}
    />
  )
}

const columnsFor = (own: SessionRow, now: Millis): Column<SessionRow>[] => [
  {
    head: 'Browser',
    cell: ({ userAgent }) => <strong title={userAgent}>{browserName(userAgent)}</strong>,
  },
  { head: 'Address', at: 'who', cell: ({ clientAddress }) => <code>{clientAddress}</code> },
  {
    head: 'Signed in',
    kind: 'optional',
    cell: ({ createdAt }) => <When at={createdAt} now={now} />,
  },
  { head: 'Last seen', at: 'when', cell: ({ lastSeenAt }) => <When at={lastSeenAt} now={now} /> },
  {
    head: 'Expires if unused',
    kind: 'optional',
    cell: (row) => <When at={endOf(row)} now={now} />,
  },
  { head: 'Action', kind: 'unnamed', at: 'act', cell: (row) => <Ending row={row} own={own} /> },
]

const Ending = ({ row, own }: { row: SessionRow; own: SessionRow }) =>
  row.id === own.id ? (
    <Badge tone="ok">This browser</Badge>
  ) : (
    <ActionForm action={`/api/portal/sessions/${row.id}/revoke`} target="#sessions">
      <Button small>Sign out</Button>
    </ActionForm>
  )
