/** One delivery of a webhook: its page, its JSON, and the action that sends it again. */
import { Elysia } from 'elysia'
import { sessionAuth, wantsJson } from '../../../access/accounts/needs-session.ts'
import type { Deps } from '../../../app/deps-port.ts'
import type { Actor } from '../../../kernel/acting.ts'
import { Refusal } from '../../../kernel/refusal.ts'
import type { Frame } from '../../../web/ui/frame.ts'
import { dashboardPage, type Page, shownAt } from '../../../web/ui/layout.tsx'
import { type ReplyContext, reply } from '../../../web/ui/reply.ts'
import { findDelivery, sendAgain } from '../send-again.ts'
import { toDeliveryDetailView, toDeliveryView } from '../webhook-view.ts'
import { findWebhook } from '../webhooks.ts'
import { DeliveryPage, type DeliveryView } from './delivery-page.tsx'
import { deliveryPath, nameOf, webhooksPath } from './webhook-state.tsx'

type Context = ReplyContext & { acting: Actor }
type Named = { id: string; delivery: string }

const one = '/webhooks/:id/deliveries/:delivery' as const

export const deliveryPortal = (deps: Deps, frame: Frame) =>
  new Elysia({ name: 'webhook-delivery-portal' })
    .use(sessionAuth(deps))
    .get(
      `/dashboard${one}`,
      async ({ params, request, set, acting }) => {
        const view = await readView(deps, acting, params)
        return reply({ request, set }, { page: pageOf(frame, acting, view) })
      },
      { needsSession: { page: 'webhooks:write' } },
    )
    .get(
      `/api/portal${one}`,
      async ({ params, request, set, acting }) => {
        const view = await readView(deps, acting, params)
        if (wantsJson(request)) return toDeliveryDetailView(view.of, view.row, view.version)
        const seeOther = deliveryPath(params.id, params.delivery)
        return reply({ request, set }, { fragment: <DeliveryPage view={view} />, seeOther })
      },
      { needsSession: { action: 'webhooks:write' } },
    )
    .post(
      `/api/portal${one}/redeliver`,
      ({ params, request, set, acting }) => resend(deps, frame, { request, set, acting }, params),
      { needsSession: { action: 'webhooks:write' }, parse: 'none' },
    )

async function readView(deps: Deps, acting: Actor, { id, delivery }: Named): Promise<DeliveryView> {
  const row = await findWebhook(deps, acting.account, id)
  const of = await findDelivery(deps, id, delivery)
  return { row, of, now: deps.clock.now(), version: deps.version.version }
}

const pageOf = (frame: Frame, acting: Actor, view: DeliveryView): Page =>
  dashboardPage({
    frame,
    title: `${view.of.delivery.type} to ${nameOf(view.row)}`,
    here: webhooksPath,
    acting,
    main: <DeliveryPage view={view} />,
  })

/** Answers with the delivery as JSON, else with its page. */
async function resend(deps: Deps, frame: Frame, context: Context, named: Named) {
  const { acting, request } = context
  const seeOther = deliveryPath(named.id, named.delivery)
  try {
    const asked = { id: named.id, deliveryId: named.delivery }
    const delivery = await sendAgain(deps, { account: acting.account, actor: acting.wallet }, asked)
    if (wantsJson(request)) return toDeliveryView(delivery)
    const fragment = <DeliveryPage view={await readView(deps, acting, named)} />
    return reply(context, { fragment, seeOther, done: { what: 'webhook_resent' } })
  } catch (refusal) {
    if (!(refusal instanceof Refusal) || refusal.type !== 'conflict') throw refusal
    if (wantsJson(request)) throw refusal
    const view = { ...(await readView(deps, acting, named)), refused: refusal.message }
    const page = shownAt(pageOf(frame, acting, view), seeOther)
    return reply(context, { page, fragment: <DeliveryPage view={view} />, status: refusal.status })
  }
}
