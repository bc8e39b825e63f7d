/** The webhooks of an account: the pages under `/dashboard/webhooks` and `/api/portal/webhooks`. */
import { Elysia } from 'elysia'
import { sessionAuth, wantsJson } from '../../access/accounts/needs-session.ts'
import { viewRoutes } from '../../access/accounts/portal/view-routes.tsx'
import type { Deps } from '../../app/deps-port.ts'
import { type Actor, whoOf } from '../../kernel/acting.ts'
import { toListView } from '../../kernel/pagination.ts'
import { Refusal } from '../../kernel/refusal.ts'
import { answerOnce, callOf } from '../../web/http/answer-once.ts'
import { checkBody } from '../../web/http/check-body.ts'
import { draftOf, type Fields, readFields } from '../../web/http/fields.ts'
import type { SentForm } from '../../web/ui/form.tsx'
import type { Frame } from '../../web/ui/frame.ts'
import { dashboardPage, shownAt } from '../../web/ui/layout.tsx'
import { type ReplyContext, reply } from '../../web/ui/reply.ts'
import { onceShown } from './api/once-shown.ts'
import { webhookBody } from './api/webhook-body.ts'
import { webhookPortal } from './portal/webhook.tsx'
import { newDraft, readWebhookForm } from './portal/webhook-fields.ts'
import { NewWebhookPage } from './portal/webhook-form.tsx'
import { type ListView, WebhooksPage, WebhooksPanel } from './portal/webhook-list.tsx'
import { type MemberContext, showSecret, webhookSecretPage } from './portal/webhook-secret.tsx'
import { newWebhookPath, webhooksPath } from './portal/webhook-state.tsx'
import { toWebhookView } from './webhook-view.ts'
import { createWebhook } from './webhooks.ts'

type Context = ReplyContext & { acting: Actor }

export const webhooksPortal = (deps: Deps, frame: Frame) =>
  new Elysia({ name: 'webhooks-portal' })
    .use(
      viewRoutes(deps, frame, {
        name: 'webhooks',
        title: 'Webhooks',
        right: 'webhooks:write',
        read: ({ acting }) => readList(deps, acting),
        page: (view) => <WebhooksPage view={view} />,
        panel: (view) => <WebhooksPanel view={view} />,
        sendsOn: true,
        json: async ({ acting }) => {
          const { found, now } = await readList(deps, acting)
          return toListView({ items: found.map((row) => toWebhookView(row, now)), hasMore: false })
        },
      }),
    )
    .use(sessionAuth(deps))
    .get(
      newWebhookPath,
      ({ request, set, acting }) => showForm(frame, { request, set, acting }, { draft: newDraft }),
      { needsSession: { page: 'webhooks:write' } },
    )
    .post(
      '/api/portal/webhooks',
      async ({ request, set, acting, session }) => {
        const sent = await readFields(request, { limitBytes: deps.settings.bodyBytes })
        if (!wantsJson(request)) {
          return createForPage(deps, frame, { request, set, acting, session }, sent)
        }
        const asked = { request, who: whoOf(acting), route: 'POST /api/portal/webhooks' }
        const call = callOf(deps, { ...asked, text: JSON.stringify(sent.value) })
        return answerOnce(deps, { set }, call, async () => {
          const wish = wishOf(sent)
          const { row, secret } = await createWebhook(
            deps,
            { account: acting.account, actor: acting.wallet },
            wish,
            onceShown(deps, call),
          )
          set.status = 201
          return { ...toWebhookView(row, deps.clock.now()), secret }
        })
      },
      { needsSession: { action: 'webhooks:write' }, parse: 'none' },
    )
    .use(webhookSecretPage(deps, frame))
    .use(webhookPortal(deps, frame))

const wishOf = ({ value, isForm }: Fields) =>
  isForm ? readWebhookForm(value) : checkBody(webhookBody, value)

/** The new secret, or the form as sent with its error. */
async function createForPage(deps: Deps, frame: Frame, context: MemberContext, sent: Fields) {
  const { account, wallet: actor } = context.acting
  try {
    const made = await createWebhook(deps, { account, actor }, wishOf(sent))
    return showSecret(deps, frame, context, { ...made, status: 201 })
  } catch (refusal) {
    if (!(refusal instanceof Refusal)) throw refusal
    return showForm(frame, context, { draft: draftOf(sent.value), refusal })
  }
}

function showForm(frame: Frame, context: Context, view: SentForm) {
  const { acting } = context
  const main = <NewWebhookPage view={view} />
  const page = dashboardPage({ frame, title: 'New webhook', here: webhooksPath, acting, main })
  const status = view.refusal ? { status: view.refusal.status } : {}
  return reply(context, { page: shownAt(page, newWebhookPath), ...status })
}

async function readList({ webhooks, clock }: Deps, { account }: Actor): Promise<ListView> {
  return { account, found: await webhooks.list(account), now: clock.now() }
}
