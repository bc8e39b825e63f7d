/** The operator API: `/operator/v1`, for the operator's own programs. */
import { Elysia } from 'elysia'
import { operatorAuth } from '../../access/operators/needs-operator.ts'
import type { Deps } from '../../app/deps-port.ts'
import { assignDeposit } from '../../billing/deposits/claim.ts'
import { toDepositView } from '../../billing/deposits/deposit.ts'
import { readMarginQuery } from '../../billing/margins/api/margin-query.ts'
import { marginsOf } from '../../billing/margins/margins.ts'
import { toMarginsView } from '../../billing/margins/margins-view.ts'
import { readSumsQuery } from '../../billing/usage/api/usage-query.ts'
import { usageOf } from '../../billing/usage/sum.ts'
import { toUsageView } from '../../billing/usage/usage-view.ts'
import { isId } from '../../kernel/ids.ts'
import { toListView } from '../../kernel/pagination.ts'
import { refuse } from '../../kernel/refusal.ts'
import { readBody } from '../../web/http/answer-once.ts'
import { queryOf } from '../../web/http/query.ts'
import { readDeposits } from '../admin/api/operator-lists.ts'
import { findingsOf } from '../admin/findings.ts'
import { readOperatedModels, toOperatedModels } from '../admin/operated-models.ts'
import { toUpstreamView, upstreamHealth } from '../admin/upstreams.ts'
import { statusOf } from '../status/api.ts'
import { readAccountOf, toAccount } from './api/named-account.ts'
import { operatedAccountsApi } from './api/operated-accounts.ts'
import { operatedKeysApi } from './api/operated-keys.ts'
import { operatedRefundsApi } from './api/operated-refunds.ts'
import { giveBody } from './shapes.ts'

/** No route reads a secret, a prompt or an answer, or uses the store of texts. */
export const operatorApi = (deps: Deps) =>
  new Elysia({ name: 'operator-api' })
    .use(operatedAccountsApi(deps))
    .use(operatedKeysApi(deps))
    .use(operatedRefundsApi(deps))
    .use(figuresApi(deps))
    .use(depositsApi(deps))

const figuresApi = (deps: Deps) =>
  new Elysia({ name: 'operator-figures-api' })
    .use(operatorAuth(deps))
    .get(
      '/operator/v1/usage',
      async ({ request }) => {
        const query = queryOf(request)
        const account = readAccountOf(query)
        const wish = readSumsQuery(query, deps.clock.now())
        return toUsageView(await usageOf(deps, { account, ...wish }))
      },
      { needsOperator: 'usage:read' },
    )
    .get(
      '/operator/v1/margins',
      async ({ request }) => {
        const wish = readMarginQuery(queryOf(request), deps.clock.now())
        return toMarginsView(await marginsOf(deps, wish))
      },
      { needsOperator: 'usage:read' },
    )
    .get('/operator/v1/models', async () => toOperatedModels(await readOperatedModels(deps)), {
      needsOperator: 'models:read',
    })
    .get(
      '/operator/v1/health',
      async () => {
        const service = await statusOf(deps)
        const findings = findingsOf(service, deps.health.ledgerFaults)
        const upstreams = upstreamHealth(deps).map(toUpstreamView)
        const { configDigest: digest, node } = deps.settings
        const nodes = [...deps.health.configs].map(([id, of]) => ({ id, digest: of }))
        const configuration = { node, digest, nodes }
        const { status } = service
        return { object: 'health', status, findings, service, configuration, upstreams }
      },
      { needsOperator: 'health:read' },
    )

const depositsApi = (deps: Deps) =>
  new Elysia({ name: 'operator-deposits-api' })
    .use(operatorAuth(deps))
    .get(
      '/operator/v1/deposits',
      async ({ request }) => {
        const { found } = await readDeposits(deps, queryOf(request))
        return toListView({ ...found, items: found.items.map(toDepositView) })
      },
      { needsOperator: 'deposits:read' },
    )
    .post(
      '/operator/v1/deposits/:id/assign',
      async ({ params, request, token }) => {
        const { account, reason } = await readBody(deps, request, giveBody)
        if (!isId('dep', params.id)) refuse('not_found', 'There is no such deposit.')
        const wish = { id: params.id, account: toAccount(account), reason, actor: token.id }
        return toDepositView(await assignDeposit(deps, wish))
      },
      { needsOperator: 'deposits:write', parse: 'none' },
    )
