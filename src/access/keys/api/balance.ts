/** GET /v1/balance: the balance, holds and available money of the account of a key. */
import { Elysia } from 'elysia'
import type { Deps } from '../../../app/deps-port.ts'
import { toChecksumAddress } from '../../../verify/address.ts'
import { toAccountView } from '../key-view.ts'
import { keyAuth } from '../needs-key.ts'

export const balanceApi = (deps: Deps) =>
  new Elysia({ name: 'balance-api' }).use(keyAuth(deps)).get(
    '/v1/balance',
    async ({ caller }) => {
      const account = await deps.accounts.find(caller.account)
      if (!account) throw new Error('a key without an account')
      return {
        object: 'balance',
        account: toChecksumAddress(account.id),
        ...toAccountView(account, caller.plan),
      }
    },
    { needsKey: 'usage:read' },
  )
