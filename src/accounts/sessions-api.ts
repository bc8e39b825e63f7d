import { Elysia } from 'elysia'
import type { Deps } from '../deps.ts'
import { deleteCookie } from '../http/cookies.ts'
import { queryOf, readPage } from '../http/query.ts'
import { isId } from '../kernel/ids.ts'
import { toListView } from '../kernel/page.ts'
import { refuse } from '../kernel/refusal.ts'
import { sessionAuth } from './auth.ts'
import { toSessionView } from './session.ts'
import { auditOf } from './sign-in.ts'

type Needs = Pick<Deps, 'sessions' | 'clock' | 'ids' | 'log' | 'settings'>

/** `/api/portal/sessions`: where an account is signed in, and the end of it there. */
export const sessionsApi = (deps: Needs) => {
  const { sessions, clock, settings } = deps
  return new Elysia({ name: 'sessions-api' })
    .use(sessionAuth(deps))
    .get(
      '/api/portal/sessions',
      async ({ request, account, session }) => {
        const page = readPage(queryOf(request))
        const now = clock.now()
        if (page.after !== undefined && !(await findOwn(deps, account, page.after))) {
          refuse('invalid_request', { message: 'There is no such session.', param: 'after' })
        }
        const { items, hasMore } = await sessions.list(account, page, now)
        return toListView({ items: items.map((row) => toSessionView(row, session)), hasMore })
      },
      { needsSession: 'action' },
    )
    .post(
      '/api/portal/sessions/others/revoke',
      async ({ account, session, visitor }) => {
        const detail = { kept: session.id }
        const audit = auditOf(deps, visitor, {
          action: 'session.revoke_others',
          accountId: account,
          detail,
        })
        return { revoked: await sessions.endOthers(session, audit) }
      },
      { needsSession: 'action', parse: 'none' },
    )
    .post(
      '/api/portal/sessions/:id/revoke',
      async ({ params, account, session, visitor, set }) => {
        const found = (await findOwn(deps, account, params.id)) ?? refuse('not_found')
        const audit = auditOf(deps, visitor, {
          action: 'session.revoke',
          accountId: account,
          subject: found.id,
        })
        await sessions.end(found, audit)
        if (found.id === session.id) {
          set.headers['set-cookie'] = deleteCookie('sid', settings.baseUrl)
        }
        return { ...toSessionView(found, session), revoked: true }
      },
      { needsSession: 'action', parse: 'none' },
    )
}

const findOwn = ({ sessions, clock }: Needs, account: string, id: string) =>
  isId('sess', id) ? sessions.get(account, id, clock.now()) : undefined
