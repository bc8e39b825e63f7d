/** The panel that claims a transfer from another wallet. */
import { Button } from '../../../web/ui/button.tsx'
import { CopyBox } from '../../../web/ui/copy-box.tsx'
import { ActionForm, AreaField, TextField } from '../../../web/ui/form.tsx'
import { ErrorNote, Notice } from '../../../web/ui/notice.tsx'
import { Pad, Panel } from '../../../web/ui/panel.tsx'
import { claimText } from '../claim.ts'

export type ClaimView = {
  account: string
  /** The text typed before. */
  typed?: { txHash: string; signature: string }
  wrong?: string
  /** How many deposits came over. */
  claimed?: number
}

/** A transfer from another wallet than the one that signed in. */
export const ClaimPanel = ({ view: { account, typed, wrong, claimed } }: { view: ClaimView }) => (
  <Panel id="claim" title="Sent from another wallet?" needs="deposits:write">
    <Pad>
      <p>
        Money from another wallet waits on the account of that wallet. To bring it here, sign a text
        with the wallet that sent it. An exchange signs nothing: then ask the operator, who can
        assign the deposit.
      </p>
      {claimed === undefined ? null : (
        <Notice tone="ok" title="It is yours.">
          {claimed === 1 ? 'One deposit' : `${claimed} deposits`} came over to this account.
        </Notice>
      )}
      {wrong === undefined ? null : <ErrorNote what={wrong} charged="Nothing was moved." />}
      <CopyBox
        id="claim-text"
        label="Text to sign, with the hash of the transaction in it"
        value={claimText(typed?.txHash || '0x<transaction hash>', account)}
      />
    </Pad>
    <ActionForm action="/api/portal/deposits/claim" target="#claim" look="stack">
      <TextField
        name="tx_hash"
        form="claim"
        label="Transaction hash"
        value={typed?.txHash ?? ''}
        placeholder="0x…"
        maxlength={66}
        required
      />
      <AreaField
        name="signature"
        form="claim"
        label="Signature of the text"
        value={typed?.signature ?? ''}
        rows={3}
        mono
        required
      />
      <div class="row">
        <Button>Claim the deposit</Button>
      </div>
    </ActionForm>
  </Panel>
)
