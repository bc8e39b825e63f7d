/** Deposits of an account: where to send them, their history, and claims. */
import { Elysia } from 'elysia'
import { sessionAuth, wantsJson } from '../../access/accounts/needs-session.ts'
import type { Deps } from '../../app/deps-port.ts'
import type { Actor } from '../../kernel/acting.ts'
import { type Nusd, parseUsd } from '../../kernel/money.ts'
import { toListView } from '../../kernel/pagination.ts'
import { Refusal, refuse } from '../../kernel/refusal.ts'
import { checkBody } from '../../web/http/check-body.ts'
import { readFields } from '../../web/http/fields.ts'
import { listQuery, queryOf, readPage, readText } from '../../web/http/query.ts'
import type { Frame } from '../../web/ui/frame.ts'
import { dashboardPage } from '../../web/ui/layout.tsx'
import { type ReplyContext, reply } from '../../web/ui/reply.ts'
import { claimDeposits } from './claim.ts'
import { type DepositPolicy, toDepositView } from './deposit.ts'
import { listDeposits } from './list.ts'
import { paymentOf, toPaymentView } from './payment.ts'
import { ClaimPanel, type ClaimView } from './portal/claim.tsx'
import { DepositsPage, NoDepositsPage, PayPanel, type PayView } from './portal/deposit.tsx'
import { depositsPath, HistoryPanel } from './portal/deposit-history.tsx'
import { claimBody, payBody } from './shapes.ts'

type Context = ReplyContext & { account: string; acting: Actor }

/** Bytes of a body here: a contract wallet's signature is the longest of it. */
const bodyBytes = 16_384

export const depositsPortal = (deps: Deps, frame: Frame) =>
  new Elysia({ name: 'deposits-portal' })
    .use(sessionAuth(deps))
    .get(
      depositsPath,
      ({ request, set, account, acting }) => {
        const typed = readText(queryOf(request), 'amount')
        return show(deps, frame, { request, set, account, acting }, typed)
      },
      { needsSession: { page: 'deposits:read' } },
    )
    .get(
      '/api/portal/deposits',
      async ({ request, set, account }) => {
        const isPart = request.headers.get('hx-request') === 'true'
        const query = queryOf(request)
        const history = await readHistory(deps, account, isPart ? listQuery(query) : query)
        if (isPart) {
          return reply({ request, set }, { fragment: <HistoryPanel view={history} />, seeOther })
        }
        const { found } = history
        const list = toListView({ ...found, items: found.items.map(toDepositView) })
        const { depositPolicy: policy } = deps
        const pay = policy ? toPaymentView(policy, paymentOf(policy, undefined)) : null
        return { ...list, deposit_address: pay }
      },
      { needsSession: { action: 'deposits:read' } },
    )
    .post(
      '/api/portal/deposits',
      async ({ request, set, account, acting }) => {
        const { value } = await readFields(request, { limitBytes: bodyBytes })
        const { amount: typed } = checkBody(payBody, value)
        const policy = deps.depositPolicy ?? refuseOff()
        const view = payViewOf(deps, policy, account, typed)
        if (!wantsJson(request))
          return showPay(deps, frame, { request, set, account, acting }, view, typed)
        if (view.wrong) {
          refuse('invalid_request', { message: view.wrong.message, param: 'amount' })
        }
        return toPaymentView(policy, paymentOf(policy, view.amount))
      },
      { needsSession: { action: 'deposits:write' }, parse: 'none' },
    )
    .post(
      '/api/portal/deposits/claim',
      async ({ request, set, account, acting, visitor }) => {
        const { value } = await readFields(request, { limitBytes: bodyBytes })
        const typed = typedOf(value)
        try {
          const { tx_hash: txHash, signature } = checkBody(claimBody, trimmed(value))
          const moved = await claimDeposits(deps, {
            account,
            actor: acting.wallet,
            txHash,
            signature,
            visitor,
          })
          if (wantsJson(request)) {
            const items = moved.map(toDepositView)
            return toListView({ items, hasMore: false })
          }
          const claim = { account, claimed: moved.length }
          const fragment = <ClaimPanel view={claim} />
          const done = { what: 'deposit_claimed' } as const
          return reply({ request, set }, { fragment, seeOther, done })
        } catch (error) {
          if (!(error instanceof Refusal) || wantsJson(request)) throw error
          const claim = { account, typed, wrong: error.message }
          return show(deps, frame, { request, set, account, acting }, undefined, { claim, error })
        }
      },
      { needsSession: { action: 'deposits:write' }, parse: 'none' },
    )

const seeOther = depositsPath

function refuseOff(): never {
  refuse('conflict', { message: 'This server takes no deposits. Ask its operator for credit.' })
}

async function show(
  deps: Deps,
  frame: Frame,
  { request, set, account, acting }: Context,
  typed?: string,
  failed?: { claim: ClaimView; error: Refusal },
) {
  const { depositPolicy: policy } = deps
  const query = listQuery(failed ? new URLSearchParams() : queryOf(request))
  const history = await readHistory(deps, account, query)
  const parts = { frame, title: 'Deposits', here: depositsPath, acting }
  if (!policy) {
    const main = <NoDepositsPage account={account} history={history} />
    return reply({ request, set }, { page: dashboardPage({ ...parts, main }) })
  }
  const pay = payViewOf(deps, policy, account, typed)
  const claim = failed?.claim ?? { account }
  const purse = (await deps.accounts.find(account)) ?? { balance: 0n, held: 0n }
  const main = <DepositsPage view={{ pay, history, claim, purse }} />
  const page = dashboardPage({ ...parts, scripts: ['deposit'], main })
  const status = failed ? { status: failed.error.status } : {}
  const fragment = failed ? { fragment: <ClaimPanel view={claim} /> } : {}
  return reply({ request, set }, { page, ...fragment, ...status })
}

/** The panel with an amount; an invalid one is marked. */
function showPay(
  deps: Deps,
  frame: Frame,
  context: Context,
  view: PayView,
  typed: string | undefined,
) {
  const isPart = context.request.headers.get('hx-request') === 'true'
  if (view.wrong && !isPart) return show(deps, frame, context, typed)
  const to = typed ? `${depositsPath}?amount=${encodeURIComponent(typed)}` : depositsPath
  return reply(context, { fragment: <PayPanel view={view} />, seeOther: to })
}

function payViewOf(
  { health }: Deps,
  policy: DepositPolicy,
  account: string,
  typed: string | undefined,
): PayView {
  const { trouble, symbol } = health.deposits
  const view = { account, policy, symbol, amount: undefined, trouble: trouble !== null }
  if (typed === undefined || typed.trim() === '') return view
  const amount: Nusd | undefined = parseUsd(typed.trim())
  if (amount !== undefined && amount >= policy.minNusd && amount > 0n) return { ...view, amount }
  const message = 'Enter an amount in USD, such as 25.00, at or above the minimum.'
  return { ...view, wrong: { typed, message } }
}

async function readHistory(deps: Deps, account: string, query: URLSearchParams) {
  const page = readPage(query)
  const found = await listDeposits(deps, account, page)
  const { depositPolicy: policy, health } = deps
  const newest = found.items[0]
  const stages = policy && { newest, head: health.chain.head, policy }
  return { account, found, now: deps.clock.now(), isFirst: page.after === undefined, stages }
}

/** Pasted text has spaces around it. */
const trimmed = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(
        Object.entries(value).map(([name, one]) => [
          name,
          typeof one === 'string' ? one.trim() : one,
        ]),
      )
    : value

function typedOf(value: unknown): { txHash: string; signature: string } {
  const { tx_hash: hash, signature } = Object(value) as Record<string, unknown>
  const textOf = (one: unknown): string => (typeof one === 'string' ? one.slice(0, 9000) : '')
  return { txHash: textOf(hash).trim(), signature: textOf(signature).trim() }
}
