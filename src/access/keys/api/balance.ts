/** GET /v1/balance: the money that a key may know of. */
import { Elysia } from 'elysia'
import type { Deps } from '../../../app/deps-port.ts'
import { toPurseView } from '../key-view.ts'
import { keyAuth } from '../needs-key.ts'
import { standingOf } from '../self.ts'
import type { BalanceAnswer } from '../shapes.ts'

export const balanceApi = (deps: Deps) =>
  new Elysia({ name: 'balance-api' }).use(keyAuth(deps)).get(
    '/v1/balance',
    async ({ caller }): Promise<BalanceAnswer> => {
      const standing = await standingOf(deps, caller)
      const { address, ...money } = toPurseView(standing, caller.plan, deps.clock.now())
      return { object: 'balance', account: address, ...money }
    },
    { needsKey: 'usage:read' },
  )
