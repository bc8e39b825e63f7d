/** Routes under /api/auth: signing in with a wallet (EIP-4361) and out again. */
import { type Context, Elysia } from 'elysia'
import type { Deps } from '../../../app/deps-port.ts'
import type { Json } from '../../../kernel/canonical.ts'
import { toRfc3339 } from '../../../kernel/clock.ts'
import { Refusal, refuse } from '../../../kernel/refusal.ts'
import { toChecksumAddress } from '../../../verify/address.ts'
import { checkBody } from '../../../web/http/check-body.ts'
import { rateKey } from '../../../web/http/client-address.ts'
import { deleteCookie, readCookie, writeCookie } from '../../../web/http/cookies.ts'
import { readFields } from '../../../web/http/fields.ts'
import { type Limiter, makeLimiter, tooMany } from '../../../web/http/limits.ts'
import { pageHeaders } from '../../../web/http/standing-headers.ts'
import type { Frame } from '../../../web/ui/frame.ts'
import { HtmlAnswer } from '../../../web/ui/html-answer.ts'
import { sendOn } from '../../../web/ui/reply.ts'
import { themeOf } from '../../../web/ui/theme.ts'
import { currentSession, sessionAuth, wantsPage } from '../needs-session.ts'
import { nextPage, signInPath, visitorPath } from '../next-page.ts'
import { nonceLifeMs } from '../nonce.ts'
import { signInPage } from '../pages.tsx'
import { endOf, isToken, lifeMs, newToken, type Visitor } from '../session.ts'
import { nonceBody, verifyBody } from '../shapes.ts'
import { auditOf, beginSignIn, signIn, signInAsTest, signInAsVisitor } from '../sign-in.ts'
import { peerOf, testAccountFor, testAccountPath } from './test-account.ts'

/** A body holds a message of 2 KiB, its escapes and a signature of up to 4,000 bytes in hex. */
const limitBytes = 16_384

type SignInContext = Pick<Context, 'request' | 'set'> & { visitor: Visitor }
/** The answer for programs, and the next page of a plain form. */
type SignInReply = { json: Record<string, unknown>; seeOther: string }

/**
 * `/api/auth`: signing in with a wallet (EIP-4361) and out again. Takes JSON, and the forms of the
 * sign-in page, which go on to a page.
 */
export const signInApi = (deps: Deps, frame: Frame) => {
  const { settings, clock, sessions } = deps
  const begun = makeLimiter(clock)
  const tried = makeLimiter(clock)

  const answer = async (
    { request, set, visitor }: SignInContext,
    limiter: Limiter,
    work: (value: Json) => Promise<SignInReply>,
  ): Promise<Record<string, unknown> | string | HtmlAnswer> => {
    const verdict = limiter.take(rateKey(visitor.clientAddress), settings.failedAuthPerMinute)
    if (!verdict.ok) throw tooMany(verdict.retryAfterMs, 'rate_limited')
    const { value, isForm } = await readFields(request, { limitBytes })
    if (!isForm || !wantsPage(request)) return (await work(value)).json
    try {
      const { seeOther } = await work(value)
      return sendOn({ set }, seeOther)
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      const page = signInPage(frame, {
        baseUrl: settings.baseUrl,
        next: wantedNext(value),
        refusal: error,
      })
      set.status = error.status
      Object.assign(set.headers, pageHeaders)
      return new HtmlAnswer(() => page.html({ theme: themeOf(request), path: '/signin' }))
    }
  }

  return new Elysia({ name: 'sign-in-api' })
    .use(sessionAuth(deps))
    .post(
      '/api/auth/nonce',
      ({ request, set, visitor }) =>
        answer({ request, set, visitor }, begun, (value) => begin(deps, { request, set }, value)),
      { sameOrigin: true, parse: 'none' },
    )
    .post(
      '/api/auth/verify',
      ({ request, set, visitor }) =>
        answer({ request, set, visitor }, tried, (value) =>
          finish(deps, { request, set, visitor }, value),
        ),
      { sameOrigin: true, parse: 'none' },
    )
    .post(
      testAccountPath,
      async ({ request, server, set, visitor }) => {
        const account = testAccountFor(settings, request, peerOf(server, request))
        if (account === undefined) refuse('not_found')
        const replaces = readCookie(request.headers, 'sid', settings.baseUrl)
        const { value } = await readFields(request, { limitBytes })
        const { token } = await signInAsTest(deps, account, { replaces, visitor })
        set.headers['set-cookie'] = sessionCookies(token, settings.baseUrl)
        return sendOn({ set }, nextPage(wantedNext(value)))
      },
      { sameOrigin: true, parse: 'none' },
    )
    .post(
      visitorPath,
      async ({ request, set, visitor }) => {
        if (!deps.demo) refuse('not_found')
        const replaces = readCookie(request.headers, 'sid', settings.baseUrl)
        const { value } = await readFields(request, { limitBytes })
        const { token } = await signInAsVisitor(deps, { replaces, visitor })
        set.headers['set-cookie'] = sessionCookies(token, settings.baseUrl)
        return sendOn({ set }, nextPage(wantedNext(value)))
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
        return wantsPage(request) ? sendOn({ set }, '/signin') : { account: null }
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

async function begin(
  deps: Deps,
  { request, set }: Pick<SignInContext, 'request' | 'set'>,
  value: Json,
): Promise<SignInReply> {
  const { baseUrl } = deps.settings
  const wish = checkBody(nonceBody, value)
  // A browser with two tabs keeps one cookie, or the first tab's nonce would be lost.
  const known = readCookie(request.headers, 'signin', baseUrl)
  const browser = known !== undefined && isToken(known) ? known : newToken(deps.random)
  const address = wish.address?.trim()
  const { nonce, message, expiresAt } = await beginSignIn(deps, { address, browser })
  const maxAgeS = nonceLifeMs / 1000
  set.headers['set-cookie'] = writeCookie('signin', browser, { baseUrl, maxAgeS })
  return {
    json: { nonce, ...(message ? { message } : {}), expires_at: toRfc3339(expiresAt) },
    seeOther: signInPath(wish.next, nonce),
  }
}

async function finish(
  deps: Deps,
  { request, set, visitor }: SignInContext,
  value: Json,
): Promise<SignInReply> {
  const { baseUrl } = deps.settings
  const wish = checkBody(verifyBody, value)
  const { token, accountId, expiresAt } = await signIn(deps, {
    message: wish.message,
    // Pasted by hand, it may have brought a line break along.
    signature: wish.signature.trim(),
    browser: readCookie(request.headers, 'signin', baseUrl),
    replaces: readCookie(request.headers, 'sid', baseUrl),
    visitor,
  })
  set.headers['set-cookie'] = sessionCookies(token, baseUrl)
  return {
    json: { account: toChecksumAddress(accountId), expires_at: toRfc3339(expiresAt) },
    seeOther: nextPage(wish.next),
  }
}

/** The session's cookie, and the end of the sign-in's. */
const sessionCookies = (token: string, baseUrl: string): string[] => [
  writeCookie('sid', token, { baseUrl, maxAgeS: lifeMs / 1000 }),
  deleteCookie('signin', baseUrl),
]

const wantedNext = (value: Json): string | undefined => {
  const wanted = typeof value === 'object' && value && 'next' in value ? value['next'] : undefined
  return typeof wanted === 'string' ? wanted : undefined
}
