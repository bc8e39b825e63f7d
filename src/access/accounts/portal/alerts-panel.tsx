/** The panel of the settings that says which balance is low. */
import { type Nusd, toUsd } from '../../../kernel/money.ts'
import { Button } from '../../../web/ui/button.tsx'
import { ActionForm, TextField } from '../../../web/ui/form.tsx'
import { Panel } from '../../../web/ui/panel.tsx'

export type AlertsView = {
  low: Nusd | null
  /** The amount as typed, and the error to show at its field. */
  typed?: string
  wrong?: string
}

/** Also the fragment htmx gets after a change. */
export const AlertsPanel = ({ view: { low, typed, wrong } }: { view: AlertsView }) => (
  <Panel id="alerts" title="Low balance" acts="/api/portal/alerts">
    <ActionForm action="/api/portal/alerts" target="#alerts" look="stack">
      <TextField
        form="alerts"
        name="balance_low"
        label="Tell my webhooks below, USD"
        value={typed ?? (low === null ? '' : toUsd(low))}
        inputmode="decimal"
        placeholder="5.00"
        maxlength={40}
        error={wrong}
        hint="Sends the event balance.low. Empty: never."
      />
      <div class="row">
        <Button>Save</Button>
        <a href="/dashboard/webhooks">Webhooks</a>
      </div>
    </ActionForm>
  </Panel>
)
