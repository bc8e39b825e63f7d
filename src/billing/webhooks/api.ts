/** Routes under /v1/webhooks, and /v1/alerts: where an account's events go. */
import { Elysia } from 'elysia'
import { assertRoot, type Caller } from '../../access/keys/key.ts'
import { keyAuth } from '../../access/keys/needs-key.ts'
import type { Deps } from '../../app/deps-port.ts'
import { toListView } from '../../kernel/pagination.ts'
import { answerBody, readBody } from '../../web/http/answer-once.ts'
import { queryOf } from '../../web/http/query.ts'
import { lowBalanceOf, toAlertsView, toLow } from './alerts.ts'
import { readDeliveries } from './api/delivery-page.ts'
import { onceShown } from './api/once-shown.ts'
import {
  alertsBody,
  webhookBody,
  webhookChangeBody,
  webhookRotateBody,
} from './api/webhook-body.ts'
import { findDelivery, sendAgain } from './send-again.ts'
import type { RoomOwner } from './take-room.ts'
import { toDeliveryDetailView, toDeliveryView, toWebhookView } from './webhook-view.ts'
import {
  changeWebhook,
  createWebhook,
  findWebhook,
  removeWebhook,
  rotateWebhook,
  setLowBalance,
  testWebhook,
} from './webhooks.ts'

export const webhooksApi = (deps: Deps) =>
  new Elysia({ name: 'webhooks-api' })
    .use(keyAuth(deps))
    .use(listsApi(deps))
    .use(oneApi(deps))
    .use(alertsApi(deps))

const listsApi = (deps: Deps) =>
  new Elysia({ name: 'webhook-lists-api' })
    .use(keyAuth(deps))
    .get(
      '/v1/webhooks',
      async ({ caller }) => {
        const { account } = askerOf(caller)
        const now = deps.clock.now()
        const items = (await deps.webhooks.list(account)).map((row) => toWebhookView(row, now))
        return toListView({ items, hasMore: false })
      },
      { needsKey: 'webhooks:write' },
    )
    .post(
      '/v1/webhooks',
      async ({ caller, request, set }) => {
        const asker = askerOf(caller)
        const sent = { request, who: caller.key.id, route: 'POST /v1/webhooks', shape: webhookBody }
        return answerBody(deps, { set }, sent, async (wish, call) => {
          const { row, secret } = await createWebhook(deps, asker, wish, onceShown(deps, call))
          set.status = 201
          return { ...toWebhookView(row, deps.clock.now()), secret }
        })
      },
      { needsKey: 'webhooks:write', parse: 'none' },
    )
    .get(
      '/v1/webhooks/:id/deliveries',
      async ({ caller, params, request }) => {
        const { id } = await findWebhook(deps, askerOf(caller).account, params.id)
        const { items, hasMore } = await readDeliveries(deps, id, queryOf(request))
        return toListView({ items: items.map(toDeliveryView), hasMore })
      },
      { needsKey: 'webhooks:write' },
    )

const oneApi = (deps: Deps) =>
  new Elysia({ name: 'webhook-api' })
    .use(keyAuth(deps))
    .get(
      '/v1/webhooks/:id',
      async ({ caller, params }) => {
        const row = await findWebhook(deps, askerOf(caller).account, params.id)
        return toWebhookView(row, deps.clock.now())
      },
      { needsKey: 'webhooks:write' },
    )
    .patch(
      '/v1/webhooks/:id',
      async ({ caller, params, request }) => {
        const change = await readBody(deps, request, webhookChangeBody)
        const row = await changeWebhook(deps, askerOf(caller), params.id, change)
        return toWebhookView(row, deps.clock.now())
      },
      { needsKey: 'webhooks:write', parse: 'none' },
    )
    .delete(
      '/v1/webhooks/:id',
      async ({ caller, params }) => {
        await removeWebhook(deps, askerOf(caller), params.id)
        return { id: params.id, object: 'webhook' as const, deleted: true }
      },
      { needsKey: 'webhooks:write', parse: 'none' },
    )
    .post(
      '/v1/webhooks/:id/test',
      async ({ caller, params }) =>
        toDeliveryView(await testWebhook(deps, askerOf(caller), params.id)),
      { needsKey: 'webhooks:write', parse: 'none' },
    )
    .post(
      '/v1/webhooks/:id/rotate',
      async ({ caller, params: { id }, request }) => {
        const { overlap_seconds: overlapSeconds } = await readBody(
          deps,
          request,
          webhookRotateBody,
          true,
        )
        const { row, secret } = await rotateWebhook(deps, askerOf(caller), { id, overlapSeconds })
        return { ...toWebhookView(row, deps.clock.now()), secret }
      },
      { needsKey: 'webhooks:write', parse: 'none' },
    )
    .get(
      '/v1/webhooks/:id/deliveries/:delivery',
      async ({ caller, params: { id, delivery } }) => {
        const row = await findWebhook(deps, askerOf(caller).account, id)
        const found = await findDelivery(deps, id, delivery)
        return toDeliveryDetailView(found, row, deps.version.version)
      },
      { needsKey: 'webhooks:write' },
    )
    .post(
      '/v1/webhooks/:id/deliveries/:delivery/redeliver',
      async ({ caller, params: { id, delivery: deliveryId } }) =>
        toDeliveryView(await sendAgain(deps, askerOf(caller), { id, deliveryId })),
      { needsKey: 'webhooks:write', parse: 'none' },
    )

const alertsApi = (deps: Deps) =>
  new Elysia({ name: 'alerts-api' })
    .use(keyAuth(deps))
    .get(
      '/v1/alerts',
      async ({ caller }) => toAlertsView(await lowBalanceOf(deps, askerOf(caller).account)),
      { needsKey: 'webhooks:write' },
    )
    .patch(
      '/v1/alerts',
      async ({ caller, request }) => {
        const asker = askerOf(caller)
        const body = await readBody(deps, request, alertsBody)
        const low = toLow(body.balance_low_nusd)
        await setLowBalance(deps, asker, low)
        return toAlertsView(low)
      },
      { needsKey: 'webhooks:write', parse: 'none' },
    )

/**
 * Events cover the whole account, so only a key without a parent may choose where they go.
 * @throws Refusal `scope_denied`
 */
function askerOf({ account, key }: Caller): RoomOwner {
  assertRoot(key, 'Webhooks tell of the whole account')
  return { account, actor: key.id, lineage: key.lineage }
}
