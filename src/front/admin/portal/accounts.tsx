/** The operator's routes for accounts: find, suspend, resume and grant credit. */
import { Elysia } from 'elysia'
import type { Deps } from '../../../app/deps-port.ts'
import { type Nusd, parseUsd } from '../../../kernel/money.ts'
import { toListView } from '../../../kernel/pagination.ts'
import { refuse } from '../../../kernel/refusal.ts'
import { dayOf } from '../../../ledger/free-writes.ts'
import type { AccountRow } from '../../../storage/db/schema/schema.ts'
import { toChecksumAddress } from '../../../verify/address.ts'
import { checkBody } from '../../../web/http/check-body.ts'
import { readFields } from '../../../web/http/fields.ts'
import { queryOf, readText } from '../../../web/http/query.ts'
import type { Frame } from '../../../web/ui/frame.ts'
import { shortHash } from '../../../web/ui/hash.tsx'
import { type ReplyContext, reply } from '../../../web/ui/reply.ts'
import { countKeys, toAccountView } from '../account-view.ts'
import { readAccounts, readAddress } from '../api/operator-lists.ts'
import { grantOnce, makeGrantToken } from '../grant.ts'
import { adminAuth } from '../needs-admin.ts'
import { grantBody, reasonBody } from '../shapes.ts'
import { resumeAccount, suspendAccount } from '../suspend.ts'
import {
  AccountPage,
  AccountsPanel,
  type AccountsView,
  ConfirmGrantPanel,
  ConfirmStatusPanel,
} from './account.tsx'
import { paths } from './admin-frame.tsx'
import { adminView, answer, bodyBytes, show, trimmed } from './answer.tsx'
import { mostWriters, WritersPanel } from './writers.tsx'

const here = { title: 'Accounts', tab: paths.accounts }
const hereOf = (id: string) => ({ ...here, title: `Account ${shortHash(toChecksumAddress(id))}` })
const api = '/api/portal/admin/accounts'

export const adminAccountsPortal = (deps: Deps, frame: Frame) =>
  new Elysia({ name: 'admin-accounts-portal' })
    .use(
      adminView(deps, frame, {
        ...here,
        read: (query) => readList(deps, query),
        panel: (view) => <AccountsPanel view={view} />,
        page: async (view) => {
          const isWhole = view.isFirst && view.prefix === ''
          const today = dayOf(view.now)
          const writers = isWhole ? await deps.admin.writers(today, mostWriters) : []
          return (
            <>
              <AccountsPanel view={view} />
              {writers.length > 0 && <WritersPanel writers={writers} />}
            </>
          )
        },
        json: ({ found }) => toListView({ ...found, items: found.items.map(toAccountView) }),
      }),
    )
    .use(adminAuth(deps))
    .get(
      `${paths.accounts}/:id`,
      async ({ params, request, set, account, acting }) => {
        const id = readAddress(params.id)
        const main = <AccountPage view={await readOne(deps, id, account)} />
        return show(frame, { request, set, acting }, { ...hereOf(id), main })
      },
      { needsAdmin: 'page' },
    )
    .use(confirmPages(deps, frame))
    .use(accountActions(deps))

const confirmPages = (deps: Deps, frame: Frame) =>
  new Elysia({ name: 'admin-accounts-confirm' })
    .use(adminAuth(deps))
    .get(
      `${paths.accounts}/:id/suspend`,
      async ({ params, request, set, acting }) => {
        const main = await confirmStatus(deps, params.id, 'active')
        return show(frame, { request, set, acting }, { ...hereOf(params.id), main })
      },
      { needsAdmin: 'page' },
    )
    .get(
      `${paths.accounts}/:id/resume`,
      async ({ params, request, set, acting }) => {
        const main = await confirmStatus(deps, params.id, 'suspended')
        return show(frame, { request, set, acting }, { ...hereOf(params.id), main })
      },
      { needsAdmin: 'page' },
    )
    .get(
      `${paths.accounts}/:id/grant`,
      ({ params, request, set, acting }) => {
        const query = queryOf(request)
        const typed = Object.fromEntries(
          ['amount', 'reason', 'once'].map((name) => [name, readText(query, name)?.trim() ?? '']),
        )
        const id = readAddress(params.id)
        // Without what the form sends, such as from a bookmark: the form itself.
        if (Object.values(typed).includes('')) {
          return reply(
            { request, set },
            { fragment: <></>, seeOther: `${paths.accounts}/${id}#grant` },
          )
        }
        const { amount, reason, once } = checkBody(grantBody, typed)
        const wish = { id, amount: readAmount(amount), reason, once }
        return show(
          frame,
          { request, set, acting },
          { ...hereOf(id), main: <ConfirmGrantPanel {...wish} /> },
        )
      },
      { needsAdmin: 'page' },
    )

const accountActions = (deps: Deps) =>
  new Elysia({ name: 'admin-accounts-actions' })
    .use(adminAuth(deps))
    .get(
      `${api}/:id`,
      async ({ params, account }) => {
        const { id, row, keys, once } = await readOne(deps, readAddress(params.id), account)
        const view = row ? toAccountView(row) : { account: toChecksumAddress(id), status: null }
        return { ...view, keys, once }
      },
      { needsAdmin: 'action' },
    )
    .post(
      `${api}/:id/suspend`,
      async ({ params, request, set, account }) => {
        const wish = await readWish(request, params.id, account)
        const row = await suspendAccount(deps, wish)
        return changed(deps, { request, set, account }, row)
      },
      { needsAdmin: 'action', parse: 'none' },
    )
    .post(
      `${api}/:id/resume`,
      async ({ params, request, set, account }) => {
        const wish = await readWish(request, params.id, account)
        const row = await resumeAccount(deps, wish)
        return changed(deps, { request, set, account }, row)
      },
      { needsAdmin: 'action', parse: 'none' },
    )
    .post(
      `${api}/:id/grant`,
      async ({ params, request, set, account }) => {
        const id = readAddress(params.id)
        const { value } = await readFields(request, { limitBytes: bodyBytes })
        const { amount: typed, reason, once } = checkBody(grantBody, trimmed(value))
        const amount = readAmount(typed)
        await grantOnce(deps, { account: id, amount, reason, once, actor: account })
        const row = await deps.accounts.find(id)
        if (!row) throw new Error('an account that was granted credit is missing')
        return changed(deps, { request, set, account }, row)
      },
      { needsAdmin: 'action', parse: 'none' },
    )

async function readWish(request: Request, id: string, actor: string) {
  const account = readAddress(id)
  const { value } = await readFields(request, { limitBytes: bodyBytes })
  const { reason } = checkBody(reasonBody, trimmed(value))
  return { account, reason, actor }
}

type Context = ReplyContext & { account: string }

async function changed(deps: Deps, { request, set, account }: Context, row: AccountRow) {
  const view = await readOne(deps, row.id, account)
  return answer(
    { request, set },
    {
      json: () => toAccountView(row),
      fragment: <AccountPage view={view} />,
      seeOther: `${paths.accounts}/${row.id}`,
    },
  )
}

async function confirmStatus(deps: Deps, typed: string, from: AccountRow['status']) {
  const id = readAddress(typed)
  const row = (await deps.accounts.find(id)) ?? refuse('not_found', 'No such account.')
  if (row.status !== from) refuse('conflict', `This account is already ${row.status}.`)
  const keys = await countKeys(deps, id)
  return <ConfirmStatusPanel id={id} keys={keys} isSuspended={from === 'suspended'} />
}

async function readList(deps: Deps, query: URLSearchParams): Promise<AccountsView> {
  return { ...(await readAccounts(deps, query)), now: deps.clock.now() }
}

async function readOne(deps: Deps, id: string, admin: string) {
  const row = await deps.accounts.find(id)
  const now = deps.clock.now()
  const keys = row ? await countKeys(deps, id) : '0'
  return { id, row, keys, now, once: makeGrantToken(deps.ids, now), isOwn: id === admin }
}

/** @throws Refusal 'invalid_request' */
function readAmount(text: string): Nusd {
  const amount = parseUsd(text.trim().replace(/^\$/, ''))
  if (amount !== undefined && amount > 0n) return amount
  return refuse('invalid_request', {
    message: 'Enter an amount in USD, such as 5.00.',
    param: 'amount',
  })
}
