/** GET /v1/deposits: what arrived for the account of a key, newest first. */
import { Elysia } from 'elysia'
import { assertRoot } from '../../access/keys/key.ts'
import { keyAuth } from '../../access/keys/needs-key.ts'
import type { Deps } from '../../app/deps-port.ts'
import { toListView } from '../../kernel/pagination.ts'
import { queryOf, readPage } from '../../web/http/query.ts'
import { toDepositView } from './deposit.ts'
import { listDeposits } from './list.ts'

export const depositsApi = (deps: Deps) =>
  new Elysia({ name: 'deposits-api' }).use(keyAuth(deps)).get(
    '/v1/deposits',
    async ({ caller, request }) => {
      assertRoot(caller.key, 'Deposits are of the whole account')
      const found = await listDeposits(deps, caller.account, readPage(queryOf(request)))
      return toListView({ ...found, items: found.items.map(toDepositView) })
    },
    { needsKey: 'usage:read' },
  )
