/** The confirmations before a webhook is deleted or its secret is rotated. */
import { overlaps } from '../../../access/keys/portal/key-confirm.tsx'
import type { Refusal } from '../../../kernel/refusal.ts'
import type { WebhookRow } from '../../../storage/db/schema/schema.ts'
import { ConfirmPage, type ConfirmProps } from '../../../web/ui/confirm.tsx'
import { ChoiceField } from '../../../web/ui/form.tsx'
import { defaultOverlapSeconds } from '../webhook.ts'
import { Path } from './webhook-page.tsx'
import { nameOf, webhookAction, webhookPath } from './webhook-state.tsx'

/** A confirmation below the way back to its webhook. */
export const WebhookConfirm = (props: ConfirmProps & { head: string; row: WebhookRow }) => {
  const { row, ...page } = props
  return (
    <>
      <Path row={row} />
      <ConfirmPage {...page} />
    </>
  )
}

export const confirmRemove = (row: WebhookRow): ConfirmProps => ({
  id: 'remove',
  title: `Delete ${nameOf(row)}?`,
  consequence: (
    <>
      Events that wait for it are <strong>not sent</strong>, and its deliveries are deleted. This
      cannot be undone.
    </>
  ),
  action: webhookAction(row.id, 'remove'),
  button: 'Delete the webhook',
  keep: 'Keep it',
  keepHref: webhookPath(row.id),
})

export const confirmRotate = (row: WebhookRow, refusal?: Refusal): ConfirmProps => ({
  id: 'rotate',
  title: `Give ${nameOf(row)} a new secret`,
  consequence: 'The new secret is shown once. Until the old one expires, both sign each message.',
  action: webhookAction(row.id, 'rotate'),
  fields: (
    <ChoiceField
      name="overlap_seconds"
      label="The old secret stops signing"
      value={String(defaultOverlapSeconds)}
      options={overlaps}
    />
  ),
  refusal,
  button: 'Rotate the secret',
  look: 'go',
  keep: 'Keep it',
  keepHref: webhookPath(row.id),
})
