/** Keys through the operator API: mint for an account, list, revoke. */
import { Elysia } from 'elysia'
import { onceShown } from '../../../access/keys/api/once-shown.ts'
import { listKeys } from '../../../access/keys/browse.ts'
import { issueKey } from '../../../access/keys/issue.ts'
import { toMintRequest } from '../../../access/keys/key-request.ts'
import { toKeyView } from '../../../access/keys/key-view.ts'
import { revokeKey } from '../../../access/keys/revoke.ts'
import { operatorAuth } from '../../../access/operators/needs-operator.ts'
import type { Deps } from '../../../app/deps-port.ts'
import { isId } from '../../../kernel/ids.ts'
import { toListView } from '../../../kernel/pagination.ts'
import { refuse } from '../../../kernel/refusal.ts'
import { answerBody } from '../../../web/http/answer-once.ts'
import { queryOf, readPage } from '../../../web/http/query.ts'
import { operatorMintBody } from '../shapes.ts'
import { readAccountOf, toAccount } from './named-account.ts'

export const operatedKeysApi = (deps: Deps) =>
  new Elysia({ name: 'operated-keys-api' })
    .use(operatorAuth(deps))
    .get(
      '/operator/v1/keys',
      async ({ request }) => {
        const query = queryOf(request)
        const page = readPage(query)
        const found = await listKeys(deps, { account: readAccountOf(query) }, {}, page)
        const now = deps.clock.now()
        return toListView({ ...found, items: found.items.map((one) => toKeyView(one, now)) })
      },
      { needsOperator: 'keys:read' },
    )
    .get('/operator/v1/keys/:id', async ({ params }) => show(deps, params.id), {
      needsOperator: 'keys:read',
    })
    .post(
      '/operator/v1/keys',
      async ({ request, set, token }) => {
        const route = 'POST /operator/v1/keys'
        const asked = { request, who: token.id, route, shape: operatorMintBody }
        return answerBody(deps, { set }, asked, async (body, call) => {
          const once = onceShown(deps, call, 201)
          const wish = {
            ...toMintRequest(body),
            account: toAccount(body.account),
            actor: token.id,
            once,
          }
          const { key, secret } = await issueKey(deps, wish)
          set.status = 201
          return { ...(await show(deps, key.id)), secret }
        })
      },
      { needsOperator: 'keys:write', parse: 'none' },
    )
    .post(
      '/operator/v1/keys/:id/revoke',
      async ({ params, token }) => {
        const { id } = await show(deps, params.id)
        await revokeKey(deps, { keyId: id, actor: token.id })
        return show(deps, id)
      },
      { needsOperator: 'keys:write', parse: 'none' },
    )

/** @throws Refusal 'not_found' */
async function show({ keys, clock }: Deps, id: string) {
  if (!isId('key', id) || !(await keys.find(id))) refuse('not_found', 'There is no such key.')
  const now = clock.now()
  return toKeyView(await keys.show(id, now), now)
}
