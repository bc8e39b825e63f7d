/** The form of a webhook, new or changed. */
import { accountEvents } from '../../../storage/outbox/event.ts'
import type { Draft } from '../../../web/http/fields.ts'
import { Button, ButtonLink } from '../../../web/ui/button.tsx'
import {
  ActionForm,
  CheckField,
  errorOf,
  fieldsOf,
  Refused,
  SelectField,
  type SentForm,
  TextField,
} from '../../../web/ui/form.tsx'
import { PageHead, Panel, Split } from '../../../web/ui/panel.tsx'
import { boxOf, eventTypes, isOfField } from './webhook-fields.ts'
import { formatWords, webhooksPath } from './webhook-state.tsx'

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
      <Panel id="create" title="Create a webhook" needs="webhooks:write">
        <ActionForm action="/api/portal/webhooks" look="stack">
          <Refused
            refusal={view.refusal}
            what="Nothing was created."
            isMarked={isOfField(view.refusal)}
          />
          <WebhookFields form="create" view={view} />
          <div class="row">
            <Button look="go">Create webhook</Button>
            <ButtonLink look="plain" href={webhooksPath}>
              Cancel
            </ButtonLink>
          </div>
        </ActionForm>
      </Panel>
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

type FieldsProps = { form: string; view: SentForm }

export function WebhookFields({ form, view }: FieldsProps) {
  const { draft, refusal } = view
  const field = fieldsOf(form, view)
  return (
    <>
      <TextField
        {...field('url')}
        label="URL"
        type="url"
        placeholder="https://example.com/hooks/counterfoil"
        hint="For Slack or Discord: the incoming webhook of a channel."
        required
        autofocus={form === 'create' && refusal === undefined}
      />
      <div class="grid2">
        <SelectField
          {...field('format')}
          label="Format"
          options={Object.entries(formatWords).map(([value, label]) => ({ value, label }))}
        />
        <TextField
          {...field('description')}
          label="Description"
          hint="Its name in your list."
          maxlength={200}
        />
      </div>
      <EventFields form={form} draft={draft} error={errorOf(refusal, 'events')} />
    </>
  )
}

type EventProps = { form: string; draft: Draft; error: string | undefined }

const EventFields = ({ form, draft, error }: EventProps) => (
  <fieldset class="field" aria-describedby={error ? `${form}-events-error` : undefined}>
    <legend>Events</legend>
    <input type="hidden" name="events_from" value="boxes" />
    {error ? (
      <small class="err" id={`${form}-events-error`}>
        {error}
      </small>
    ) : null}
    <div class="grid2 boxes">
      {eventTypes.map((type) => (
        <CheckField
          form={form}
          name={boxOf(type)}
          label={<code>{type}</code>}
          hint={accountEvents[type]}
          checked={draft[boxOf(type)] !== undefined}
        />
      ))}
    </div>
  </fieldset>
)
