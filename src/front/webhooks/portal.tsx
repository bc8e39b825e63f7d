/** The webhooks of an account: the pages under `/dashboard/webhooks` and `/api/portal/webhooks`. */
import { Elysia } from 'elysia'
import { sessionAuth, wantsJson } from '../../access/accounts/needs-session.ts'
import { draftOf } from '../../access/keys/portal/key-form.ts'
import type { Deps } from '../../app/deps-port.ts'
import { type Acting, whoOf } from '../../kernel/acting.ts'
import { toListView } from '../../kernel/pagination.ts'
import { Refusal } from '../../kernel/refusal.ts'
import { answerOnce, callOf } from '../../storage/idempotency/api/answer-once.ts'
import { checkBody } from '../../web/http/check-body.ts'
import { type Fields, readFields } from '../../web/http/fields.ts'
import type { Frame } from '../../web/ui/frame.ts'
import { dashboardPage, type Page } from '../../web/ui/layout.tsx'
import { type ReplyContext, reply } from '../../web/ui/reply.ts'
import { onceShown } from './api/once-shown.ts'
import { webhookBody } from './api/webhook-body.ts'
import { webhookPortal } from './portal/webhook.tsx'
import { newDraft, readWebhookForm } from './portal/webhook-fields.ts'
import { type FormView, NewWebhookPage } from './portal/webhook-form.tsx'
import { type ListView, WebhooksPage, WebhooksPanel } from './portal/webhook-list.tsx'
import { type SignedIn, showSecret, webhookSecretPage } from './portal/webhook-secret.tsx'
import { newWebhookPath, webhooksPath } from './portal/webhook-state.tsx'
import { toWebhookView } from './webhook-view.ts'
import { createWebhook } from './webhooks.ts'

type Context = ReplyContext & { acting: Acting }

export const webhooksPortal = (deps: Deps, frame: Frame) =>
  new Elysia({ name: 'webhooks-portal' })
    .use(sessionAuth(deps))
    .get(
      webhooksPath,
      async ({ request, set, acting }) => {
        const view = await readList(deps, acting)
        const main = <WebhooksPage view={view} />
        const page = dashboardPage({ frame, title: 'Webhooks', here: webhooksPath, acting, main })
        return reply({ request, set }, { page, fragment: <WebhooksPanel view={view} /> })
      },
      { needsSession: { page: 'webhooks:write' } },
    )
    .get(
      newWebhookPath,
      ({ request, set, acting }) => showForm(frame, { request, set, acting }, { draft: newDraft }),
      { needsSession: { page: 'webhooks:write' } },
    )
    .get(
      '/api/portal/webhooks',
      async ({ request, set, acting }) => {
        const view = await readList(deps, acting)
        if (wantsJson(request)) {
          const items = view.found.map((row) => toWebhookView(row, view.now))
          return toListView({ items, hasMore: false })
        }
        const fragment = <WebhooksPanel view={view} />
        return reply({ request, set }, { fragment, seeOther: webhooksPath })
      },
      { needsSession: { action: 'webhooks:write' } },
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
async function createForPage(deps: Deps, frame: Frame, context: SignedIn, sent: Fields) {
  const { account, wallet: actor } = context.acting
  try {
    const made = await createWebhook(deps, { account, actor }, wishOf(sent))
    return showSecret(deps, frame, context, { ...made, status: 201 })
  } catch (refusal) {
    if (!(refusal instanceof Refusal)) throw refusal
    return showForm(frame, context, { draft: draftOf(sent.value), refusal })
  }
}

function showForm(frame: Frame, context: Context, view: FormView) {
  const { acting } = context
  const main = <NewWebhookPage view={view} />
  const page = dashboardPage({ frame, title: 'New webhook', here: webhooksPath, acting, main })
  const html: Page['html'] = (reader) => page.html({ ...reader, path: newWebhookPath })
  const { refusal } = view
  return reply(context, {
    page: { ...page, html },
    ...(refusal ? { status: refusal.status } : {}),
  })
}

async function readList({ webhooks, clock }: Deps, { account }: Acting): Promise<ListView> {
  return { account, found: await webhooks.list(account), now: clock.now() }
}
