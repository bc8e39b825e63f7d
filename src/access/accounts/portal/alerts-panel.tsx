/** The panel of the settings that says which balance is low. */
import { type Nusd, toUsd } from '../../../kernel/money.ts'
import type { Refusal } from '../../../kernel/refusal.ts'
import { soleError } from '../../../web/ui/form.tsx'
import { type FormFields, FormPanel } from '../../../web/ui/form-panel.tsx'

export type AlertsView = {
  low: Nusd | null
  /** The amount as typed, and why it was refused. */
  typed?: string
  refusal?: Refusal
}

const fields: FormFields = {
  balance_low: {
    label: 'Tell my webhooks below, USD',
    inputmode: 'decimal',
    placeholder: '5.00',
    maxlength: 40,
    hint: 'Sends the event balance.low. Empty: never.',
  },
}

/** Also the fragment htmx gets after a change. */
export const AlertsPanel = ({ view: { low, typed, refusal } }: { view: AlertsView }) => (
  <FormPanel
    id="alerts"
    title="Low balance"
    acts="/api/portal/alerts"
    action="/api/portal/alerts"
    target="#alerts"
    of={fields}
    sent={{ draft: { balance_low: typed ?? (low === null ? '' : toUsd(low)) }, refusal }}
    errorOf={soleError}
    button="Save"
    beside={<a href="/dashboard/webhooks">Webhooks</a>}
  />
)
