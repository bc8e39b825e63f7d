/** One webhook of an account: its pages, and `/api/portal/webhooks/:id`. */
import { Elysia } from 'elysia'
import { sessionAuth, wantsJson } from '../../../access/accounts/needs-session.ts'
import type { Deps } from '../../../app/deps-port.ts'
import type { Actor } from '../../../kernel/acting.ts'
import { toListView } from '../../../kernel/pagination.ts'
import { Refusal } from '../../../kernel/refusal.ts'
import type { WebhookRow } from '../../../storage/db/schema/schema.ts'
import { checkBody } from '../../../web/http/check-body.ts'
import { draftOf, readFields } from '../../../web/http/fields.ts'
import { listQuery, queryOf } from '../../../web/http/query.ts'
import { Confirm } from '../../../web/ui/confirm.tsx'
import type { Frame } from '../../../web/ui/frame.ts'
import type { Markup } from '../../../web/ui/jsx-runtime.ts'
import { dashboardPage, type Page, shownAt } from '../../../web/ui/layout.tsx'
import { type ReplyContext, reply } from '../../../web/ui/reply.ts'
import type { DoneWhat } from '../../../web/ui/toast.tsx'
import { readDeliveries } from '../api/delivery-page.ts'
import { webhookChangeBody, webhookRotateBody } from '../api/webhook-body.ts'
import { toDeliveryView, toWebhookView } from '../webhook-view.ts'
import {
  changeWebhook,
  findWebhook,
  removeWebhook,
  rotateWebhook,
  testWebhook,
} from '../webhooks.ts'
import { deliveryPortal } from './delivery.tsx'
import { confirmRemove, confirmRotate, WebhookConfirm } from './webhook-confirm.tsx'
import { readOverlap, readWebhookForm } from './webhook-fields.ts'
import { DeliveriesPanel, WebhookPage, type WebhookView } from './webhook-page.tsx'
import { type MemberContext, showSecret } from './webhook-secret.tsx'
import { nameOf, webhookPath, webhooksPath } from './webhook-state.tsx'

type Context = ReplyContext & { acting: Actor }

export const webhookPortal = (deps: Deps, frame: Frame) =>
  new Elysia({ name: 'webhook-portal' })
    .use(pages(deps, frame))
    .use(changes(deps, frame))
    .use(sending(deps, frame))
    .use(deliveryPortal(deps, frame))

const pages = (deps: Deps, frame: Frame) =>
  new Elysia({ name: 'webhook-pages' })
    .use(sessionAuth(deps))
    .get(
      `${webhooksPath}/:id`,
      async ({ params, request, set, acting }) => {
        const row = await findWebhook(deps, acting.account, params.id)
        const main = <WebhookPage view={await readView(deps, row, queryOf(request))} />
        return reply({ request, set }, { page: pageOf(frame, acting, nameOf(row), main) })
      },
      { needsSession: { page: 'webhooks:write' } },
    )
    .get(
      `${webhooksPath}/:id/rotate`,
      async ({ params, request, set, acting }) => {
        const row = await findWebhook(deps, acting.account, params.id)
        const asked = confirmRotate(row)
        const main = <WebhookConfirm head="Rotate a secret" row={row} {...asked} />
        const page = pageOf(frame, acting, 'Rotate a secret', main)
        return reply({ request, set }, { page, fragment: <Confirm {...asked} /> })
      },
      { needsSession: { page: 'webhooks:write' } },
    )
    .get(
      `${webhooksPath}/:id/remove`,
      async ({ params, request, set, acting }) => {
        const row = await findWebhook(deps, acting.account, params.id)
        const asked = confirmRemove(row)
        const main = <WebhookConfirm head="Delete a webhook" row={row} {...asked} />
        const page = pageOf(frame, acting, 'Delete a webhook', main)
        return reply({ request, set }, { page, fragment: <Confirm {...asked} /> })
      },
      { needsSession: { page: 'webhooks:write' } },
    )

const changes = (deps: Deps, frame: Frame) =>
  new Elysia({ name: 'webhook-changes' })
    .use(sessionAuth(deps))
    .get(
      '/api/portal/webhooks/:id',
      ({ params, request, set, acting }) => answer(deps, { request, set, acting }, params.id),
      { needsSession: { action: 'webhooks:write' } },
    )
    .patch(
      '/api/portal/webhooks/:id',
      ({ params, request, set, acting }) =>
        change(deps, frame, { request, set, acting }, params.id),
      { needsSession: { action: 'webhooks:write' }, parse: 'none' },
    )
    .post(
      '/api/portal/webhooks/:id',
      ({ params, request, set, acting }) =>
        change(deps, frame, { request, set, acting }, params.id),
      { needsSession: { action: 'webhooks:write' }, parse: 'none' },
    )
    .delete(
      '/api/portal/webhooks/:id',
      ({ params, request, set, acting }) => remove(deps, { request, set, acting }, params.id),
      { needsSession: { action: 'webhooks:write' }, parse: 'none' },
    )
    .post(
      '/api/portal/webhooks/:id/remove',
      ({ params, request, set, acting }) => remove(deps, { request, set, acting }, params.id),
      { needsSession: { action: 'webhooks:write' }, parse: 'none' },
    )
    .post(
      '/api/portal/webhooks/:id/rotate',
      ({ params, request, set, acting, session }) =>
        rotate(deps, frame, { request, set, acting, session }, params.id),
      { needsSession: { action: 'webhooks:write' }, parse: 'none' },
    )

const sending = (deps: Deps, frame: Frame) =>
  new Elysia({ name: 'webhook-sending' })
    .use(sessionAuth(deps))
    .get(
      '/api/portal/webhooks/:id/deliveries',
      async ({ params, request, set, acting }) => {
        const row = await findWebhook(deps, acting.account, params.id)
        if (wantsJson(request)) {
          const { items, hasMore } = await readDeliveries(deps, row.id, queryOf(request))
          return toListView({ items: items.map(toDeliveryView), hasMore })
        }
        const view = await readView(deps, row, queryOf(request))
        const fragment = <DeliveriesPanel view={view} />
        return reply({ request, set }, { fragment, seeOther: webhookPath(row.id) })
      },
      { needsSession: { action: 'webhooks:write' } },
    )
    .post(
      '/api/portal/webhooks/:id/test',
      ({ params: { id }, request, set, acting }) => test(deps, frame, { request, set, acting }, id),
      { needsSession: { action: 'webhooks:write' }, parse: 'none' },
    )

const askerOf = ({ account, wallet: actor }: Actor) => ({ account, actor })

const pageOf = (frame: Frame, acting: Actor, title: string, main: Markup): Page =>
  dashboardPage({ frame, title, here: webhooksPath, acting, main })

async function readView(deps: Deps, row: WebhookRow, query: URLSearchParams): Promise<WebhookView> {
  const deliveries = await readDeliveries(deps, row.id, listQuery(query))
  return { row, deliveries, isFirst: deliveries.after === undefined, now: deps.clock.now() }
}

/** Answers with the webhook as JSON, as a part of its page for htmx, or by a redirect to it. */
async function answer(deps: Deps, context: Context, id: string, done?: DoneWhat) {
  const row = await findWebhook(deps, context.acting.account, id)
  if (wantsJson(context.request)) return toWebhookView(row, deps.clock.now())
  const view = await readView(deps, row, new URLSearchParams())
  const fragment = <WebhookPage view={view} />
  const said = done ? { done: { what: done } } : {}
  return reply(context, { fragment, seeOther: webhookPath(row.id), ...said })
}

async function change(deps: Deps, frame: Frame, context: Context, id: string) {
  const { acting, request } = context
  const row = await findWebhook(deps, acting.account, id)
  const { value, isForm } = await readFields(request, { limitBytes: deps.settings.bodyBytes })
  try {
    const wish = isForm ? readWebhookForm(value) : checkBody(webhookChangeBody, value)
    await changeWebhook(deps, askerOf(acting), id, wish)
    return await answer(deps, context, id, doneOf(wish.enabled))
  } catch (refusal) {
    if (!(refusal instanceof Refusal) || wantsJson(request)) throw refusal
    const form = { draft: draftOf(value), refusal }
    const view = { ...(await readView(deps, row, new URLSearchParams())), form }
    return showRefused(frame, context, view, refusal.status)
  }
}

const doneOf = (enabled: boolean | undefined): DoneWhat => {
  if (enabled === undefined) return 'webhook_changed'
  return enabled ? 'webhook_enabled' : 'webhook_disabled'
}

/** The page with the refused change; its theme switch returns to the webhook. */
function showRefused(frame: Frame, context: Context, view: WebhookView, status: number) {
  const { row } = view
  const main = <WebhookPage view={view} />
  const page = shownAt(pageOf(frame, context.acting, nameOf(row), main), webhookPath(row.id))
  return reply(context, { page, fragment: main, status })
}

async function remove(deps: Deps, context: Context, id: string) {
  const { acting, request } = context
  await removeWebhook(deps, askerOf(acting), id)
  if (wantsJson(request)) return { id, object: 'webhook' as const, deleted: true }
  const done = { what: 'webhook_removed' } as const
  return reply(context, { fragment: <></>, seeOther: webhooksPath, done })
}

async function rotate(deps: Deps, frame: Frame, context: MemberContext, id: string) {
  const { acting, request } = context
  const row = await findWebhook(deps, acting.account, id)
  const { value, isForm } = await readFields(request, { limitBytes: deps.settings.bodyBytes })
  try {
    const overlapSeconds = isForm
      ? readOverlap(value)
      : checkBody(webhookRotateBody, value).overlap_seconds
    const made = await rotateWebhook(deps, askerOf(acting), { id, overlapSeconds })
    if (!wantsJson(request)) return showSecret(deps, frame, context, { ...made, status: 200 })
    return { ...toWebhookView(made.row, deps.clock.now()), secret: made.secret }
  } catch (refusal) {
    if (!(refusal instanceof Refusal) || wantsJson(request)) throw refusal
    const asked = confirmRotate(row, refusal)
    const main = <WebhookConfirm head="Rotate a secret" row={row} {...asked} />
    const page = pageOf(frame, acting, 'Rotate a secret', main)
    return reply(context, { page, status: refusal.status })
  }
}

/** Answers with the delivery as JSON, else with the page of the webhook, which lists it first. */
async function test(deps: Deps, frame: Frame, context: Context, id: string) {
  try {
    const delivery = await testWebhook(deps, askerOf(context.acting), id)
    if (wantsJson(context.request)) return toDeliveryView(delivery)
    return await answer(deps, context, id, 'webhook_tested')
  } catch (refusal) {
    if (!(refusal instanceof Refusal) || refusal.type !== 'conflict') throw refusal
    if (wantsJson(context.request)) throw refusal
    const row = await findWebhook(deps, context.acting.account, id)
    const view = await readView(deps, row, new URLSearchParams())
    return showRefused(frame, context, { ...view, refused: refusal.message }, refusal.status)
  }
}
