/** The guards of browser routes: same origin, a live session, and the role's right. */
import { type Context, Elysia, NotFoundError, status } from 'elysia'
import type { Deps } from '../../app/deps-port.ts'
import { type Actor, homes, isRight, may, type Right } from '../../kernel/acting.ts'
import { Refusal, refuse } from '../../kernel/refusal.ts'
import { assertMarkHere } from '../../kernel/shard.ts'
import { clientAddress, trustedProxies } from '../../web/http/client-address.ts'
import { readCookie } from '../../web/http/cookies.ts'
import { noteAccount } from '../../web/http/expected-body.ts'
import { tooMany } from '../../web/http/limits.ts'
import { pathStart } from '../../web/http/paths.ts'
import { assertSameOrigin } from '../../web/http/same-origin.ts'
import { homePage, isLocalPath, signInPath } from './next-page.ts'
import {
  type FoundSession,
  hashToken,
  isLive,
  isToken,
  seenEveryMs,
  type Visitor,
} from './session.ts'

/** A visitor without a session: `page` redirects to the sign-in, `action` refuses. */
export type SessionKind = 'page' | 'action'

/** The kind of a route and the right that it needs: `{ page: 'keys:read' }`. */
export type SessionNeed = { page: Right } | { action: Right }

type Reads = Pick<Deps, 'sessions' | 'clock' | 'settings' | 'log'>
type Notes = Reads & Pick<Deps, 'extent' | 'shard' | 'slots'>
type Guards = Notes & Pick<Deps, 'limiters'>

/** Places that a change takes of the rate of its wallet; a page takes one. */
const actionCost = 3

const maxUserAgent = 200

/** The right that a mounted route needs; undefined for one that needs no session. */
export function rightOf(route: { hooks: unknown }): Right | undefined {
  const { detail } = route.hooks as { detail?: { tags?: string[] } }
  return detail?.tags?.find(isRight)
}

/**
 * `sameOrigin` refuses other origins and gives a route its `visitor`. `needsSession` also gives it
 * the `session`, the `account` that it acts for and, as `acting`, who acts with which role. Both
 * run before the body is read.
 */
export const sessionAuth = (deps: Guards) => {
  const { settings } = deps
  const isTrusted = trustedProxies(settings.trustedProxies)

  const visitorOf = ({ request, server, set }: Pick<Context, 'request' | 'server' | 'set'>) => ({
    clientAddress: clientAddress(request, server, isTrusted),
    userAgent: (request.headers.get('user-agent') ?? '').slice(0, maxUserAgent),
    requestId: String(set.headers['x-request-id'] ?? ''),
  })

  return new Elysia({ name: 'session-auth' }).macro({
    sameOrigin: {
      resolve: ({ request, server, set }) => {
        assertSameOrigin(request, settings.baseUrl)
        const visitor: Visitor = visitorOf({ request, server, set })
        return { visitor }
      },
    },
    needsSession: (need: SessionNeed) => ({
      // Says on the route what it needs, for {@link rightOf}.
      detail: { tags: ['page' in need ? need.page : need.action] },
      resolve: async ({ request, server, set }) => {
        assertSameOrigin(request, settings.baseUrl)
        const found = await sessionHere(deps, request)
        if (!found) {
          const path = pathToReturnTo(request)
          if (isHtmx(request.headers)) {
            const headers = { 'hx-redirect': signInPath(path) }
            throw new Refusal('session_required', { headers })
          }
          if ('action' in need && !wantsPage(request)) refuse('session_required')
          set.headers['location'] = signInPath(path)
          return status(303, '')
        }
        const { session, acting } = found
        assertRate(deps, acting, 'page' in need ? 1 : actionCost)
        if (found.status === 'suspended') await refuseTo(deps, request, acting, 'account_suspended')
        const right = 'page' in need ? need.page : need.action
        if (!may(acting, right)) {
          if (!isHome(request)) await refuseTo(deps, request, acting, 'role_denied')
          set.headers['location'] = homes[acting.role]
          return status(303, '')
        }
        noteAccount(request, acting.account)
        const visitor: Visitor = visitorOf({ request, server, set })
        if ('page' in need) await deps.extent.note(acting, deps.clock.now())
        return { session, account: acting.account, acting, visitor }
      },
    }),
  })
}

/** The live session of a request's cookie, noted as used. */
export async function currentSession(
  { sessions, clock, settings, log }: Reads,
  request: Request,
): Promise<FoundSession | undefined> {
  const token = readCookie(request.headers, 'sid', settings.baseUrl)
  if (token === undefined || !isToken(token)) return undefined
  const found = await sessions.find(hashToken(token))
  const now = clock.now()
  if (!found || !isLive(found.session, now)) return undefined
  if (now - found.session.lastSeenAt >= seenEveryMs) {
    // A failed note, on a full disk for instance, must not block reading.
    await sessions
      .noteSeen(found.session.id, now)
      .catch((error: unknown) => log.error('session.not_noted', error))
  }
  return found
}

/** @throws Refusal `rate_limited` for a wallet that asks too often, whichever session it uses */
function assertRate({ limiters, settings }: Guards, { wallet }: Actor, cost: number): void {
  const verdict = limiters.sessions.take(wallet, settings.sessionPerMinute, cost)
  if (!verdict.ok) throw tooMany(verdict.retryAfterMs, 'rate_limited')
}

/**
 * The live session of a request; undefined if no shard has it.
 * @throws Refusal `misdirected_request` for that of another shard, `unavailable` while it moves
 */
export async function sessionHere(
  deps: Reads & Pick<Deps, 'shard' | 'slots'>,
  request: Request,
): Promise<FoundSession | undefined> {
  const { settings, shard, slots } = deps
  const refuseMisrouted = (): string | undefined => {
    const token = readCookie(request.headers, 'sid', settings.baseUrl)
    if (!shard || !token || !isToken(token)) return undefined
    const mark = token.slice(0, 2)
    assertMarkHere(shard, mark)
    return mark
  }
  const found = await currentSession(deps, request).catch((error: unknown) => {
    // Another shard can answer while the database of this one cannot.
    refuseMisrouted()
    throw error
  })
  const mark = found ? undefined : refuseMisrouted()
  // A slot that moved since this process heard of it took its sessions along, or brought them.
  if (mark === undefined || !(await slots.learn(mark))) return found
  refuseMisrouted()
  return currentSession(deps, request)
}

/**
 * Says that there is nothing, in the same way for what does not exist and for what is not shown to
 * this person.
 * @throws NotFoundError off pages, as for a path without a route; on pages Refusal `not_found`
 */
export async function refuseMissing(
  deps: Notes,
  request: Request,
  found: FoundSession | undefined,
): Promise<never> {
  const isPage = (pathToReturnTo(request) ?? '').startsWith('/dashboard')
  if (!isPage) throw new NotFoundError()
  if (found?.status !== 'active') return refuse('not_found')
  await deps.extent.note(found.acting, deps.clock.now())
  return refuse('not_found', { reader: found.acting })
}

/** Pages keep their frame, so that a member can go on to what is allowed. */
async function refuseTo(
  deps: Notes,
  request: Request,
  acting: Actor,
  type: 'role_denied' | 'account_suspended',
): Promise<never> {
  const isOwn = acting.wallet === acting.account
  if (isOwn || !wantsPage(request)) return refuse(type)
  await deps.extent.note(acting, deps.clock.now())
  return refuse(type, { reader: acting })
}

/** Everybody is sent here; a role that may not read it goes on to its own first page. */
const isHome = ({ method, url }: Request): boolean =>
  method === 'GET' && url.slice(pathStart(url)).split('?', 1)[0] === homePage

/** The account that a reader of a public page acts for, if one is signed in. */
export async function readerAccount(
  deps: Reads,
  request: Request,
): Promise<{ account: string } | Record<string, never>> {
  const found = await currentSession(deps, request)
  return found?.status === 'active' ? { account: found.acting.account } : {}
}

/** Whether a browser navigates, rather than a script or htmx calling. */
export const wantsPage = ({ headers }: Request): boolean =>
  !isHtmx(headers) && (headers.get('accept') ?? '').includes('text/html')

/** Whether a script calls: neither a browser that navigates nor htmx. */
export const wantsJson = (request: Request): boolean =>
  !isHtmx(request.headers) && !wantsPage(request)

const isHtmx = (headers: Headers): boolean => headers.get('hx-request') === 'true'

/** The page to return to after the sign-in. For an action, only htmx names it. */
function pathToReturnTo({ method, url, headers }: Request): string | undefined {
  if (isHtmx(headers)) {
    const page = URL.parse(headers.get('hx-current-url') ?? '')
    return page ? page.pathname + page.search : undefined
  }
  if (method !== 'GET') return undefined
  const path = url.slice(url.indexOf('/', url.indexOf('//') + 2))
  return isLocalPath(path) ? path : undefined
}
