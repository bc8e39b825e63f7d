/** The panel that claims a transfer from another wallet. */
import { CopyBox } from '../../../web/ui/copy-box.tsx'
import { type FormFields, FormPanel } from '../../../web/ui/form-panel.tsx'
import { ErrorNote, Notice } from '../../../web/ui/notice.tsx'
import { Pad } from '../../../web/ui/panel.tsx'
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
  <FormPanel
    id="claim"
    title="Sent from another wallet?"
    needs="deposits:write"
    action="/api/portal/deposits/claim"
    target="#claim"
    of={fields}
    sent={{ draft: { tx_hash: typed?.txHash ?? '', signature: typed?.signature ?? '' } }}
    button="Claim the deposit"
    above={
      <Pad>
        <p>
          Money from another wallet waits on the account of that wallet. To bring it here, sign a
          text with the wallet that sent it. An exchange signs nothing: then ask the operator, who
          can assign the deposit.
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
    }
  />
)

const fields: FormFields = {
  tx_hash: { label: 'Transaction hash', placeholder: '0x…', maxlength: 66, required: true },
  signature: { kind: 'area', label: 'Signature of the text', rows: 3, mono: true, required: true },
}
