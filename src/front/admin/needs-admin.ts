import { Elysia } from 'elysia'
import { currentSession, type SessionNeed } from '../../access/accounts/needs-session.ts'
import type { Deps } from '../../app/deps-port.ts'
import { refuse } from '../../kernel/refusal.ts'
import { assertSameOrigin } from '../../web/http/same-origin.ts'
import { isAdmin } from './admin.ts'

type Needs = Pick<Deps, 'sessions' | 'clock' | 'settings' | 'log'>

/**
 * Guards what is the operator's: `needsAdmin` gives a route the `account` of an admin who is
 * signed in. To everybody else there is no such page, and no such route for whoever is signed in as
 * somebody else. It comes before the body is read, and keeps other origins' requests from changing
 * anything.
 */
export const adminAuth = (deps: Needs) =>
  new Elysia({ name: 'admin-auth' }).macro({
    needsAdmin: (need: SessionNeed) => ({
      resolve: async ({ request }) => {
        assertSameOrigin(request, deps.settings.baseUrl)
        const found = await currentSession(deps, request)
        if (!found && need === 'action') refuse('session_required')
        const account = found?.status === 'active' ? found.session.accountId : ''
        if (!isAdmin(deps.settings, account)) refuse('not_found')
        return { account }
      },
    }),
  })
