/** The guard of the operator's routes. */
import { Elysia } from 'elysia'
import {
  currentSession,
  refuseMissing,
  type SessionNeed,
} from '../../access/accounts/needs-session.ts'
import type { Deps } from '../../app/deps-port.ts'
import { refuse } from '../../kernel/refusal.ts'
import { assertSameOrigin } from '../../web/http/same-origin.ts'
import { isAdmin } from './admin.ts'

/**
 * `needsAdmin` gives a route the `account` of a signed-in admin. Everyone else gets 404, but an
 * action without a session gets 401. Runs before the body is read; refuses other origins.
 */
export const adminAuth = (deps: Deps) =>
  new Elysia({ name: 'admin-auth' }).macro({
    needsAdmin: (need: SessionNeed) => ({
      resolve: async ({ request }) => {
        assertSameOrigin(request, deps.settings.baseUrl)
        const found = await currentSession(deps, request)
        if (!found && need === 'action') refuse('session_required')
        const account = found?.status === 'active' ? found.session.accountId : ''
        if (!isAdmin(deps.settings, account)) return refuseMissing(deps, request, found)
        return { account }
      },
    }),
  })
