import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { Deps } from '../deps.ts'
import { rateKey } from '../http/address.ts'
import { checkBody } from '../http/check-body.ts'
import { deleteCookie, readCookie, writeCookie } from '../http/cookies.ts'
import { readFields } from '../http/form.ts'
import { type Limiter, makeLimiter, tooMany } from '../http/limits.ts'
import { toRfc3339 } from '../kernel/clock.ts'
import { toChecksumAddress } from '../verify/address.ts'
import { currentSession, sessionAuth, wantsPage } from './auth.ts'
import { nextPage, signInPath } from './next-page.ts'
import { endOf, isToken, lifeMs, newToken, type Visitor } from './session.ts'
import { auditOf, beginSignIn, nonceLifeMs, signIn } from './sign-in.ts'

/** A body holds a message of 2 KiB, its escapes and a signature. */
const limitBytes = 8192

const next = Type.Optional(Type.String())
const closed = { additionalProperties: false }
const nonceBody = Type.Object({ address: Type.Optional(Type.String()), next }, closed)
const verifyBody = Type.Object({ message: Type.String(), signature: Type.String(), next }, closed)

type Needs = Pick<
  Deps,
  | 'nonces'
  | 'sessions'
  | 'accounts'
  | 'ledger'
  | 'clock'
  | 'random'
  | 'ids'
  | 'log'
  | 'settings'
  | 'isContractSignature'
>

/**
 * `/api/auth`: signing in with a wallet (EIP-4361) and out again. Takes JSON, and forms of the
 * sign-in page, which go on to a page.
 */
export const signInApi = (deps: Needs) => {
  const { settings, clock, random, sessions } = deps
  const begun = makeLimiter(clock)
  const tried = makeLimiter(clock)

  const assertRate = (limiter: Limiter, { clientAddress }: Visitor): void => {
    const verdict = limiter.take(rateKey(clientAddress), settings.failedAuthPerMinute)
    if (!verdict.ok) throw tooMany(verdict.retryAfterMs, 'rate_limited')
  }

  return new Elysia({ name: 'sign-in-api' })
    .use(sessionAuth(deps))
    .post(
      '/api/auth/nonce',
      async ({ request, set, visitor }) => {
        assertRate(begun, visitor)
        const { value, isForm } = await readFields(request, { limitBytes })
        const wish = checkBody(nonceBody, value)
        // A browser with two tabs keeps one cookie, or the first tab's nonce would be lost.
        const known = readCookie(request.headers, 'signin', settings.baseUrl)
        const browser = known !== undefined && isToken(known) ? known : newToken(random)
        const { nonce, message, expiresAt } = await beginSignIn(deps, {
          address: wish.address,
          browser,
        })
        const { baseUrl } = settings
        const maxAgeS = nonceLifeMs / 1000
        set.headers['set-cookie'] = writeCookie('signin', browser, { baseUrl, maxAgeS })
        if (isForm && wantsPage(request)) {
          set.status = 303
          const more = signInPath(wish.next).replace(/^\/signin\??/, '&')
          set.headers['location'] = `/signin?nonce=${nonce}${more === '&' ? '' : more}`
          return ''
        }
        return { nonce, ...(message ? { message } : {}), expires_at: toRfc3339(expiresAt) }
      },
      { sameOrigin: true, parse: 'none' },
    )
    .post(
      '/api/auth/verify',
      async ({ request, set, visitor }) => {
        assertRate(tried, visitor)
        const { value, isForm } = await readFields(request, { limitBytes })
        const wish = checkBody(verifyBody, value)
        const { baseUrl } = settings
        const { token, accountId, expiresAt } = await signIn(deps, {
          message: wish.message,
          signature: wish.signature,
          browser: readCookie(request.headers, 'signin', baseUrl),
          replaces: readCookie(request.headers, 'sid', baseUrl),
          visitor,
        })
        set.headers['set-cookie'] = [
          writeCookie('sid', token, { baseUrl, maxAgeS: lifeMs / 1000 }),
          deleteCookie('signin', baseUrl),
        ]
        if (isForm && wantsPage(request)) {
          set.status = 303
          set.headers['location'] = nextPage(wish.next)
          return ''
        }
        return { account: toChecksumAddress(accountId), expires_at: toRfc3339(expiresAt) }
      },
      { sameOrigin: true, parse: 'none' },
    )
    .post(
      '/api/auth/logout',
      async ({ request, set, visitor }) => {
        const { baseUrl } = settings
        const found = await currentSession(deps, request)
        if (found) {
          const { id, accountId } = found.session
          const audit = auditOf(deps, visitor, { action: 'sign_out', accountId, subject: id })
          await sessions.end(found.session, audit)
        }
        set.headers['set-cookie'] = [deleteCookie('sid', baseUrl), deleteCookie('signin', baseUrl)]
        set.headers['clear-site-data'] = '"cache", "cookies", "storage"'
        if (wantsPage(request)) {
          set.status = 303
          set.headers['location'] = '/signin'
          return ''
        }
        return { account: null }
      },
      { sameOrigin: true, parse: 'none' },
    )
    .get('/api/auth/session', async ({ request }) => {
      const found = await currentSession(deps, request)
      if (found?.status !== 'active') return { account: null }
      return {
        account: toChecksumAddress(found.session.accountId),
        expires_at: toRfc3339(endOf(found.session)),
      }
    })
}
