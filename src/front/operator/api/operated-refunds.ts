/** Refunds through the operator API. */
import { Elysia } from 'elysia'
import { operatorAuth } from '../../../access/operators/needs-operator.ts'
import type { Deps } from '../../../app/deps-port.ts'
import type { RefundResult } from '../../../billing/refunds/refund.ts'
import { refund } from '../../../billing/refunds/refund.ts'
import { toJsonInteger } from '../../../kernel/money.ts'
import { onceOf } from '../../../ledger/once.ts'
import { toChecksumAddress } from '../../../verify/address.ts'
import { answerBody, jsonReply } from '../../../web/http/answer-once.ts'
import { refundBody } from '../shapes.ts'
import { toAccount } from './named-account.ts'

export const operatedRefundsApi = (deps: Deps) =>
  new Elysia({ name: 'operated-refunds-api' }).use(operatorAuth(deps)).post(
    '/operator/v1/refunds',
    async ({ request, set, token }) => {
      const route = 'POST /operator/v1/refunds'
      const asked = { request, who: token.id, route, shape: refundBody }
      return answerBody(deps, { set }, asked, async (body, call) => {
        const { account: named, ref, amount_nusd, reason } = body
        const account = toAccount(named)
        const amount = BigInt(amount_nusd)
        const view = (made: RefundResult) => ({
          id: made.ref,
          object: 'refund' as const,
          account: toChecksumAddress(account),
          ref,
          amount_nusd: toJsonInteger(amount),
          refunded_nusd: toJsonInteger(made.refunded),
          reason,
          balance_nusd: toJsonInteger(made.balance),
        })
        const once =
          call && onceOf<RefundResult>(deps, call, (made) => jsonReply(200, {}, view(made)))
        return view(await refund(deps, { account, ref, amount, reason, actor: token.id, once }))
      })
    },
    { needsOperator: 'grants:write', parse: 'none' },
  )
