/** The form of a webhook, new or changed. */
import { accountEvents } from '../../../storage/outbox/event.ts'
import { ButtonLink } from '../../../web/ui/button.tsx'
import type { SentForm } from '../../../web/ui/form.tsx'
import { type FormFields, FormPanel } from '../../../web/ui/form-panel.tsx'
import { PageHead, Panel, Split } from '../../../web/ui/panel.tsx'
import { boxOf, eventTypes } from './webhook-fields.ts'
import { formatWords, webhooksPath } from './webhook-state.tsx'

const url = {
  label: 'URL',
  type: 'url',
  placeholder: 'https://example.com/hooks/counterfoil',
  hint: 'For Slack or Discord: the incoming webhook of a channel.',
  required: true,
} as const

export const webhookFields: FormFields = {
  url,
  format: {
    half: true,
    kind: 'select',
    label: 'Format',
    options: Object.entries(formatWords).map(([value, label]) => ({ value, label })),
  },
  description: { half: true, label: 'Description', hint: 'Its name in your list.', maxlength: 200 },
  events: {
    kind: 'boxes',
    label: 'Events',
    marker: 'events_from',
    boxes: Object.fromEntries(
      eventTypes.map((type) => [
        boxOf(type),
        { label: <code>{type}</code>, hint: accountEvents[type] },
      ]),
    ),
  },
}

/** The page of a new webhook, with the rules beside it. */
export const NewWebhookPage = ({ view }: { view: SentForm }) => (
  <>
    <nav class="path" aria-label="Above this page">
      <a href={webhooksPath}>Webhooks</a>
    </nav>
    <PageHead title="New webhook">
      <p class="quiet">Counterfoil posts the events of this account to your server.</p>
    </PageHead>
    <Split>
      <FormPanel
        id="create"
        title="Create a webhook"
        needs="webhooks:write"
        action="/api/portal/webhooks"
        of={{ ...webhookFields, url: { ...url, autofocus: view.refusal === undefined } }}
        sent={view}
        what="Nothing was created."
        button="Create webhook"
        look="go"
        beside={
          <ButtonLink look="plain" href={webhooksPath}>
            Cancel
          </ButtonLink>
        }
      />
      <Rules />
    </Split>
  </>
)

const Rules = () => (
  <Panel id="rules" title="How events arrive">
    <ul class="pad stack rules">
      <li>
        Each event is posted until your server answers with a 2xx, for up to three days. It may
        arrive more than once, with the same id.
      </li>
      <li>
        Every post is signed as{' '}
        <a href="https://www.standardwebhooks.com" rel="noreferrer">
          Standard Webhooks
        </a>{' '}
        says. The secret is shown once, after you create the webhook.
      </li>
      <li>The server must be public and speak https. Redirects are not followed.</li>
    </ul>
  </Panel>
)
