/** `POST /api/auth/account`: changes the account that a session acts for. */
import { Elysia } from 'elysia'
import type { Deps } from '../../../app/deps-port.ts'
import { homes } from '../../../kernel/acting.ts'
import { toRfc3339 } from '../../../kernel/clock.ts'
import { refuse, refuseField } from '../../../kernel/refusal.ts'
import { isAddress, toChecksumAddress } from '../../../verify/address.ts'
import { checkBody } from '../../../web/http/check-body.ts'
import { writeCookie } from '../../../web/http/cookies.ts'
import { readFields } from '../../../web/http/fields.ts'
import { sendOn } from '../../../web/ui/reply.ts'
import { toAccountId } from '../../accounts/account.ts'
import { sessionAuth, sessionHere, wantsJson } from '../../accounts/needs-session.ts'
import { endOf } from '../../accounts/session.ts'
import { actFor } from '../act-for.ts'
import { actBody } from '../shapes.ts'

/** Largest body, in bytes. */
const bodyBytes = 4096

/** Needs no right: a member of a suspended account must be able to switch back. */
export const switchApi = (deps: Deps) =>
  new Elysia({ name: 'switch-api' }).use(sessionAuth(deps)).post(
    '/api/auth/account',
    async ({ request, set, visitor }) => {
      const found = (await sessionHere(deps, request)) ?? refuse('session_required')
      const { value } = await readFields(request, { limitBytes: bodyBytes })
      const { account: named } = checkBody(actBody, value)
      const account = isAddress(named) ? toAccountId(named) : refuseAddress()
      const { session, token } = await actFor(deps, found.session, { account, visitor })
      const { baseUrl } = deps.settings
      const maxAgeS = Math.max(1, Math.floor((session.expiresAt - deps.clock.now()) / 1000))
      set.headers['set-cookie'] = writeCookie('sid', token, { baseUrl, maxAgeS })
      const acting = (await deps.sessions.find(session.tokenHash))?.acting
      // The membership ended during this request.
      if (!acting) return refuse('session_required')
      if (!wantsJson(request)) return sendOn({ set }, homes[acting.role])
      return {
        account: toChecksumAddress(acting.account),
        wallet: toChecksumAddress(acting.wallet),
        role: acting.role,
        expires_at: toRfc3339(endOf(session)),
      }
    },
    { sameOrigin: true, parse: 'none' },
  )

const refuseAddress = (): never => refuseField('account', 'Send an address of an account.')
