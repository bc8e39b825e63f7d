/** The page on which a voucher is redeemed. */

import { Amount } from '../../../web/ui/amount.tsx'
import { Button } from '../../../web/ui/button.tsx'
import { ActionForm, TextField } from '../../../web/ui/form.tsx'
import { Notice } from '../../../web/ui/notice.tsx'
import { Pad, PageHead, Panel } from '../../../web/ui/panel.tsx'
import type { Redeemed } from '../redeem-voucher.ts'

export const vouchersPath = '/dashboard/vouchers'

export type VoucherView = {
  /** The code as typed, and the error to show at its field. */
  typed?: string
  wrong?: string
  made?: Redeemed
}

export const VoucherPage = ({ view }: { view: VoucherView }) => (
  <>
    <PageHead title="Vouchers" />
    <div class="narrow">
      <VoucherPanel view={view} />
    </div>
  </>
)

export const VoucherPanel = ({ view: { typed, wrong, made } }: { view: VoucherView }) => (
  <Panel id="voucher" title="Redeem a voucher">
    <Pad>
      <p>A voucher adds its value to your balance at once. Each code works once.</p>
      {made ? (
        <Notice tone="ok" title="Redeemed.">
          <Amount nusd={made.amount} /> came in; your balance is <Amount nusd={made.balance} />. It
          is on your <a href="/dashboard/statement">statement</a>.
        </Notice>
      ) : null}
    </Pad>
    <ActionForm action="/api/portal/vouchers/redeem" target="#voucher" look="stack">
      <TextField
        name="code"
        form="voucher"
        label="Code"
        value={typed ?? ''}
        placeholder="7ZQ4M-…"
        autocomplete="off"
        maxlength={100}
        error={wrong}
        hint="Six groups of five. Case, spaces and hyphens do not matter."
        required
      />
      <div class="row">
        <Button look="go">Redeem</Button>
      </div>
    </ActionForm>
  </Panel>
)
