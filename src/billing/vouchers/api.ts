/** POST /v1/vouchers/redeem: a key redeems a voucher for its account. */
import { Elysia } from 'elysia'
import { keyAuth } from '../../access/keys/needs-key.ts'
import type { Deps } from '../../app/deps-port.ts'
import { onceOf } from '../../ledger/once.ts'
import { isRoot } from '../../ledger/purse.ts'
import { answerBody, jsonReply } from '../../web/http/answer-once.ts'
import { clientAddress, rateKey, trustedProxies } from '../../web/http/client-address.ts'
import { guessesOf } from './api/guesses.ts'
import { redeemBody } from './api/voucher-body.ts'
import type { Redemption } from './redeem-voucher.ts'
import { redeemVoucher, toRedemptionView } from './redeem-voucher.ts'

/** Every key may redeem: it only adds to the balance, and caps stay unchanged. */
export const vouchersApi = (deps: Deps) => {
  const isTrusted = trustedProxies(deps.settings.trustedProxies)
  return new Elysia({ name: 'vouchers-api' }).use(keyAuth(deps)).post(
    '/v1/vouchers/redeem',
    async ({ caller, request, server, set }) => {
      const { account, key } = caller
      const route = 'POST /v1/vouchers/redeem'
      const asked = { request, who: key.id, route, shape: redeemBody }
      return answerBody(deps, { set }, asked, async ({ code }, call) => {
        const network = rateKey(clientAddress(request, server, isTrusted))
        const guesses = guessesOf(deps, { account, network })
        const view = (made: Redemption) => toRedemptionView({ account, isRoot: isRoot(key) }, made)
        const once =
          call && onceOf<Redemption>(deps, call, (made) => jsonReply(200, {}, view(made)))
        return view(await redeemVoucher(deps, { account, code, actor: key.id, guesses, once }))
      })
    },
    { needsKey: 'any', parse: 'none' },
  )
}
