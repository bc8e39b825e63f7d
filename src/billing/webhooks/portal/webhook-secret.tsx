/** The page that shows the secret of a webhook once, brought there by a sealed cookie. */
import { Elysia } from 'elysia'
import { sessionAuth } from '../../../access/accounts/needs-session.ts'
import { passSecret, takeSecret } from '../../../access/keys/portal/brief-secret.tsx'
import type { Deps } from '../../../app/deps-port.ts'
import type { Actor } from '../../../kernel/acting.ts'
import type { SessionRow, WebhookRow } from '../../../storage/db/schema/schema.ts'
import { ButtonLink } from '../../../web/ui/button.tsx'
import { Code, CopyBox } from '../../../web/ui/copy-box.tsx'
import type { Frame } from '../../../web/ui/frame.ts'
import { dashboardPage, type Page } from '../../../web/ui/layout.tsx'
import { Notice } from '../../../web/ui/notice.tsx'
import { Pad, PageHead, Panel } from '../../../web/ui/panel.tsx'
import { type ReplyContext, reply } from '../../../web/ui/reply.ts'
import { StoredForm } from '../../../web/ui/stored-form.tsx'
import { findWebhook } from '../webhooks.ts'
import { Path } from './webhook-page.tsx'
import { nameOf, webhookPath, webhooksPath } from './webhook-state.tsx'

const secretPath = (id: string): string => `${webhookPath(id)}/secret`

export type MemberContext = ReplyContext & { acting: Actor; session: Pick<SessionRow, 'id'> }

/** A reload says that the secret was shown already. */
export const webhookSecretPage = (deps: Deps, frame: Frame) =>
  new Elysia({ name: 'webhook-secret' }).use(sessionAuth(deps)).get(
    `${webhooksPath}/:id/secret`,
    async ({ params, request, set, acting, session }) => {
      const row = await findWebhook(deps, acting.account, params.id)
      const place = { id: row.id, path: secretPath(row.id) }
      const sent = takeSecret(deps, { request, set, session }, place)
      return reply({ request, set }, { page: pageOf(frame, acting, row, sent?.secret) })
    },
    { needsSession: { page: 'webhooks:write' } },
  )

type NewWebhook = { row: WebhookRow; secret: string }

/** Answers with a new secret, as {@link passSecret} does. */
export function showSecret(
  deps: Deps,
  frame: Frame,
  context: MemberContext,
  { row, secret, status }: NewWebhook & { status: 200 | 201 },
) {
  const sent = { secret, by: status === 201 ? 'create' : 'rotate' } as const
  const place = { id: row.id, path: secretPath(row.id), sent, status }
  return passSecret(deps, context, place, () => pageOf(frame, context.acting, row, secret))
}

function pageOf(frame: Frame, acting: Actor, row: WebhookRow, secret: string | undefined): Page {
  const main = (
    <>
      <Path row={row} />
      <PageHead title={<span dir="auto">{nameOf(row)}</span>} />
      {secret === undefined ? <WasShown id={row.id} /> : <Reveal row={row} secret={secret} />}
    </>
  )
  return dashboardPage({ frame, title: 'Signing secret', here: webhooksPath, acting, main })
}

/** It takes the focus, so that screen readers announce it. */
const Reveal = ({ row, secret }: NewWebhook) => (
  <div class="reveal" tabindex="-1" autofocus>
    <Panel id="secret-once" title="The signing secret">
      <Pad>
        <Notice tone="warn" title="Copy it now. It is shown once.">
          Your server checks with it that events come from here. If you lose it, rotate it.
        </Notice>
        <CopyBox id="secret" label="Signing secret" value={secret} strong />
        {row.format === 'standard' ? (
          <div class="stack">
            <h3>Check each post</h3>
            <Code label="Example that checks a signature" text={example} />
          </div>
        ) : null}
        <StoredForm action={webhookPath(row.id)} />
      </Pad>
    </Panel>
  </div>
)

const example = `import { Webhook } from 'standardwebhooks'

// "body" is the text as it came, before it is parsed.
const event = new Webhook(secret).verify(body, headers)`

const WasShown = ({ id }: { id: string }) => (
  <>
    <Notice tone="warn" title="The secret was shown.">
      It is shown once. If you do not have it, rotate it.
    </Notice>
    <div class="row">
      <ButtonLink href={webhookPath(id)} look="go">
        Go to the webhook
      </ButtonLink>
      <ButtonLink href={`${webhookPath(id)}/rotate`}>Rotate secret…</ButtonLink>
    </div>
  </>
)
