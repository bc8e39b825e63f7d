/** The confirmations before a webhook is deleted or its secret is rotated. */
import type { Refusal } from '../../../kernel/refusal.ts'
import type { WebhookRow } from '../../../storage/db/schema.ts'
import { Button, ButtonLink } from '../../../web/ui/button.tsx'
import { Confirm } from '../../../web/ui/confirm.tsx'
import { ActionForm, ChoiceField } from '../../../web/ui/form.tsx'
import { ErrorNote } from '../../../web/ui/notice.tsx'
import { PageHead, Panel } from '../../../web/ui/panel.tsx'
import { defaultOverlapSeconds } from '../webhook.ts'
import { Path } from './webhook-page.tsx'
import { nameOf, webhookAction, webhookPath } from './webhook-state.tsx'

type Props = { row: WebhookRow; refusal?: Refusal | undefined }

export const RemovePage = ({ row }: Props) => (
  <>
    <Path row={row} />
    <PageHead title="Delete a webhook" />
    <RemovePanel row={row} />
  </>
)

export const RemovePanel = ({ row }: Props) => (
  <Confirm
    id="remove"
    title={`Delete ${nameOf(row)}?`}
    consequence={
      <>
        Events that wait for it are <strong>not sent</strong>, and its deliveries are deleted. This
        cannot be undone.
      </>
    }
    action={webhookAction(row.id, 'remove')}
    button="Delete the webhook"
    keep="Keep it"
    keepHref={webhookPath(row.id)}
  />
)

const overlaps = [
  { value: '0', label: 'At once' },
  { value: '3600', label: 'In 1 h' },
  { value: String(defaultOverlapSeconds), label: 'In 1 day' },
  { value: '604800', label: 'In 7 days' },
]

export const RotatePage = (props: Props) => (
  <>
    <Path row={props.row} />
    <PageHead title="Rotate a secret" />
    <RotatePanel {...props} />
  </>
)

export const RotatePanel = ({ row, refusal }: Props) => (
  <Panel id="rotate" title={`Give ${nameOf(row)} a new secret`} needs="webhooks:write">
    <ActionForm action={webhookAction(row.id, 'rotate')} look="stack">
      {refusal ? <ErrorNote what="Nothing was changed." charged={refusal.message} /> : null}
      <p>The new secret is shown once. Until the old one expires, both sign each message.</p>
      <ChoiceField
        name="overlap_seconds"
        label="The old secret stops signing"
        value={String(defaultOverlapSeconds)}
        options={overlaps}
      />
      <div class="row">
        <Button look="go">Rotate the secret</Button>
        <ButtonLink look="plain" href={webhookPath(row.id)} keeps>
          Keep it
        </ButtonLink>
      </div>
    </ActionForm>
  </Panel>
)
