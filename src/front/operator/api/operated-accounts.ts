/** Accounts through the operator API: list, find, suspend, resume, grant. */
import { Elysia } from 'elysia'
import { operatorAuth } from '../../../access/operators/needs-operator.ts'
import type { Deps } from '../../../app/deps-port.ts'
import { type Nusd, toJsonInteger } from '../../../kernel/money.ts'
import { toListView } from '../../../kernel/pagination.ts'
import { refuse } from '../../../kernel/refusal.ts'
import { grantCredit } from '../../../ledger/grant.ts'
import { onceOf } from '../../../ledger/once.ts'
import { toChecksumAddress } from '../../../verify/address.ts'
import { answerBody, jsonReply, readBody } from '../../../web/http/answer-once.ts'
import { queryOf } from '../../../web/http/query.ts'
import { countKeys, toAccountView } from '../../admin/account-view.ts'
import { readAccounts, readAddress } from '../../admin/api/operator-lists.ts'
import { resumeAccount, suspendAccount } from '../../admin/suspend.ts'
import { creditBody, whyBody } from '../shapes.ts'
import { toAccount } from './named-account.ts'

export const operatedAccountsApi = (deps: Deps) =>
  new Elysia({ name: 'operated-accounts-api' })
    .use(operatorAuth(deps))
    .get(
      '/operator/v1/accounts',
      async ({ request }) => {
        const { found } = await readAccounts(deps, queryOf(request))
        return toListView({ ...found, items: found.items.map(toAccountView) })
      },
      { needsOperator: 'accounts:read' },
    )
    .get(
      '/operator/v1/accounts/:address',
      async ({ params }) => {
        const row = await deps.accounts.find(readAddress(params.address))
        if (!row) return refuse('not_found', 'There is no such account.')
        return { ...toAccountView(row), keys: await countKeys(deps, row.id) }
      },
      { needsOperator: 'accounts:read' },
    )
    .post(
      '/operator/v1/accounts/:address/suspend',
      async ({ params, request, token }) =>
        toAccountView(await suspendAccount(deps, await readWish(deps, request, params, token))),
      { needsOperator: 'accounts:write', parse: 'none' },
    )
    .post(
      '/operator/v1/accounts/:address/resume',
      async ({ params, request, token }) =>
        toAccountView(await resumeAccount(deps, await readWish(deps, request, params, token))),
      { needsOperator: 'accounts:write', parse: 'none' },
    )
    .post(
      '/operator/v1/grants',
      async ({ request, set, token }) => {
        const route = 'POST /operator/v1/grants'
        const asked = { request, who: token.id, route, shape: creditBody }
        return answerBody(deps, { set }, asked, async (body, call) => {
          const { account: named, amount_nusd, reason } = body
          const account = toAccount(named)
          const amount = BigInt(amount_nusd)
          const id = deps.ids.make('req')
          const view = (balance: Nusd) => ({
            id,
            object: 'grant' as const,
            account: toChecksumAddress(account),
            amount_nusd: toJsonInteger(amount),
            reason,
            balance_nusd: toJsonInteger(balance),
          })
          const once = call && onceOf<Nusd>(deps, call, (made) => jsonReply(200, {}, view(made)))
          return view(
            await grantCredit(deps, { account, amount, reason, actor: token.id, id, once }),
          )
        })
      },
      { needsOperator: 'grants:write', parse: 'none' },
    )

/** Reads the optional body; without a reason the audit names the token alone. */
async function readWish(
  deps: Deps,
  request: Request,
  { address }: { address: string },
  { id: actor }: { id: string },
) {
  const account = readAddress(address)
  const { reason = '' } = await readBody(deps, request, whyBody, true)
  return { account, reason, actor }
}
