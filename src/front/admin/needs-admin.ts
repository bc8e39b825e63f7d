/** The guard of the operator's routes. */
import { Elysia } from 'elysia'
import {
  refuseMissing,
  type SessionKind,
  sessionHere,
} from '../../access/accounts/needs-session.ts'
import type { Deps } from '../../app/deps-port.ts'
import { ownerOf } from '../../kernel/acting.ts'
import { refuse } from '../../kernel/refusal.ts'
import { assertSameOrigin } from '../../web/http/same-origin.ts'
import { isAdmin } from './admin.ts'

/**
 * `needsAdmin` gives a route the `account` of a signed-in admin, which is the wallet's own,
 * whichever account it acts for. Everyone else gets 404, but an
 * action without a session gets 401. Runs before the body is read; refuses other origins.
 */
export const adminAuth = (deps: Deps) =>
  new Elysia({ name: 'admin-auth' }).macro({
    needsAdmin: (need: SessionKind) => ({
      resolve: async ({ request }) => {
        assertSameOrigin(request, deps.settings.baseUrl)
        const found = await sessionHere(deps, request)
        if (!found && need === 'action') refuse('session_required')
        const account = found?.status === 'active' ? found.session.accountId : ''
        if (!isAdmin(deps.settings, account)) return refuseMissing(deps, request, found)
        return { account, acting: found?.acting ?? ownerOf(account) }
      },
    }),
  })
