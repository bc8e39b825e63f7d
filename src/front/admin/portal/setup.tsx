/** `/setup`: the printed link appoints the operator, and the page leads on to a first receipt. */
import { Elysia } from 'elysia'
import { sessionAuth, sessionHere, wantsJson } from '../../../access/accounts/needs-session.ts'
import { hashToken } from '../../../access/accounts/session.ts'
import { opensSetup } from '../../../access/operators/setup-link.ts'
import type { Deps } from '../../../app/deps-port.ts'
import type { SetupDesk } from '../../../app/setup/desk-port.ts'
import { nusdPerUsd } from '../../../kernel/money.ts'
import { Refusal, refuse } from '../../../kernel/refusal.ts'
import { toChecksumAddress } from '../../../verify/address.ts'
import { checkBody } from '../../../web/http/check-body.ts'
import { rateKey } from '../../../web/http/client-address.ts'
import { addCookie, deleteCookie, readCookie, writeCookie } from '../../../web/http/cookies.ts'
import { readFields } from '../../../web/http/fields.ts'
import { makeLimiter, tooMany } from '../../../web/http/limits.ts'
import { queryOf, readText } from '../../../web/http/query.ts'
import type { Frame } from '../../../web/ui/frame.ts'
import { publicPage, shownAt } from '../../../web/ui/layout.tsx'
import { type ReplyContext, reply, sendOn } from '../../../web/ui/reply.ts'
import { statusOf } from '../../status/api.ts'
import { isAdmin } from '../admin.ts'
import { claimBody, firstCreditBody } from '../api/setup-bodies.ts'
import { findingsOf } from '../findings.ts'
import { grantOnce, makeGrantToken } from '../grant.ts'
import { adminAuth } from '../needs-admin.ts'
import { noteAction } from '../note.ts'
import { readSetup } from '../setup-progress.ts'
import { bodyBytes, trimmed } from './answer.tsx'
import { firstCredit, SetupPage, type SetupView, setupPath } from './setup-pages.tsx'

export const setupPages = (deps: Deps, frame: Frame) => {
  const { settings, clock } = deps
  const failures = makeLimiter(clock)

  /**
   * Whether a link opens the set-up. Failures of one network are counted and refused above a limit;
   * a good link opens all the same, so that guesses lock no operator out.
   */
  const opens = async (token: string | undefined, address: string): Promise<boolean> => {
    if (token === undefined || deps.setup.desk === undefined) return false
    if (await opensSetup(deps, token)) return true
    const verdict = failures.take(rateKey(address), settings.failedAuthPerMinute)
    if (!verdict.ok) throw tooMany(verdict.retryAfterMs, 'rate_limited')
    return false
  }

  return new Elysia({ name: 'setup-pages' })
    .use(sessionAuth(deps))
    .use(adminAuth(deps))
    .get(
      setupPath,
      async ({ request, set, visitor }) => {
        const token = readText(queryOf(request), 'token')
        if (token !== undefined) {
          // The token leaves the address at once, and with it the history and the next Referer.
          const isOpen = settings.admins.length === 0 && (await opens(token, visitor.clientAddress))
          if (isOpen) addCookie(set.headers, cookieOf(deps, token))
          return sendOn({ set }, setupPath)
        }
        const own = readCookie(request.headers, 'setup', settings.baseUrl)
        const account = await walletOf(deps, request)
        const isOpen = settings.admins.length === 0 && (await opens(own, visitor.clientAddress))
        return show(frame, { request, set }, await viewOf(deps, account, isOpen), account)
      },
      { sameOrigin: true },
    )
    .post(
      `${setupPath}/claim`,
      async ({ request, set, visitor }) => {
        const own = readCookie(request.headers, 'setup', settings.baseUrl)
        const account = (await walletOf(deps, request)) ?? refuse('session_required')
        const { value } = await readFields(request, { limitBytes: bodyBytes })
        const { account: meant } = checkBody(claimBody, trimmed(value))
        try {
          assertVacant(deps)
          if (own === undefined || !(await opens(own, visitor.clientAddress))) return refuseLink()
          if (meant.toLowerCase() !== account) {
            refuse('conflict', 'Your wallet changed since the page was shown. Nothing was changed.')
          }
          await claim(deps, { account, token: own })
        } catch (refusal) {
          if (!(refusal instanceof Refusal) || wantsJson(request)) throw refusal
          if (refusal.type !== 'conflict' || settings.admins.length > 0) throw refusal
          const view = await viewOf(deps, account, await opensSetup(deps, own))
          const again = view.state === 'claim' ? { ...view, refusal } : view
          return show(frame, { request, set }, again, account, refusal.status)
        }
        set.headers['set-cookie'] = deleteCookie('setup', settings.baseUrl)
        if (wantsJson(request)) return { object: 'operator', account: toChecksumAddress(account) }
        return sendOn({ set }, setupPath)
      },
      { sameOrigin: true, parse: 'none' },
    )
    .post(
      `${setupPath}/credit`,
      async ({ request, set, account }) => {
        const { value } = await readFields(request, { limitBytes: bodyBytes })
        const { once } = checkBody(firstCreditBody, trimmed(value))
        const { own } = await readSetup(deps, account, [])
        if (own === undefined || own.hasCredit) return sendOn({ set }, setupPath)
        const amount = BigInt(firstCredit) * nusdPerUsd
        await grantOnce(deps, { account, amount, reason: 'set-up', once, actor: account })
        return sendOn({ set }, setupPath)
      },
      { needsAdmin: 'action', parse: 'none' },
    )
}

const cookieOf = ({ settings }: Deps, token: string): string =>
  writeCookie('setup', token, { baseUrl: settings.baseUrl, maxAgeS: 3600 })

/** The signed-in wallet itself, whichever account it acts for. */
async function walletOf(deps: Deps, request: Request): Promise<string | undefined> {
  const found = await sessionHere(deps, request)
  return found?.status === 'active' ? found.session.accountId : undefined
}

async function viewOf(
  deps: Deps,
  account: string | undefined,
  isOpen: boolean,
): Promise<SetupView> {
  const { settings, setup } = deps
  if (account !== undefined && isAdmin(settings, account)) {
    const once = makeGrantToken(deps.ids, deps.clock.now())
    const findings = findingsOf(await statusOf(deps), deps.health.ledgerFaults)
    const progress = await readSetup(deps, account, findings)
    return { state: 'steps', account, place: setup.desk?.look(account), progress, once }
  }
  if (settings.admins.length > 0) return { state: 'taken' }
  if (!isOpen || setup.desk === undefined) return { state: 'closed' }
  if (account === undefined) return { state: 'wallet', baseUrl: settings.baseUrl }
  return { state: 'claim', account, place: setup.desk.look(account) }
}

function show(
  frame: Frame,
  { request, set }: ReplyContext,
  view: SetupView,
  account: string | undefined,
  status = 200,
) {
  const page = publicPage({
    frame,
    title: 'Set up',
    here: setupPath,
    isUnlisted: true,
    main: <SetupPage of={view} />,
    scripts: view.state === 'wallet' ? ['wallet'] : [],
    ...(account === undefined ? {} : { account }),
  })
  return reply({ request, set }, { page: shownAt(page, setupPath), status })
}

const deskOf = ({ setup }: Deps): SetupDesk =>
  setup.desk ?? refuse('conflict', 'This server cannot change its configuration.')

function assertVacant({ settings }: Deps): void {
  if (settings.admins.length === 0) return
  refuse('conflict', 'This service has an operator. Nothing was changed.')
}

const refuseLink = (): never =>
  refuse(
    'conflict',
    'This set-up link has ended: another wallet used it, it is too old, or a newer one was ' +
      'printed. Print a new one: counterfoil setup',
  )

type Claim = { account: string; token: string }

async function claim(deps: Deps, { account, token }: Claim): Promise<void> {
  const { setupLinks, clock } = deps
  const hash = hashToken(token)
  const link = (await setupLinks.find(hash, clock.now())) ?? refuseLink()
  const result = await deskOf(deps).claim(account, {
    take: () => setupLinks.take(hash, clock.now()),
    giveBack: () => setupLinks.add(link),
  })
  const refused = 'problems' in result ? result.problems.length : 0
  const detail = { line: deps.setup.desk?.look(account).line ?? '', refused }
  await noteAction(deps, { actor: account, action: 'operator.claim', subject: account, detail })
  if (isAdmin(deps.settings, account)) return
  refuse('conflict', 'The file names you, but the server did not take it on: see its log.')
}
