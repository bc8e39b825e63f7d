/** The page on which a voucher is redeemed. */
import type { Refusal } from '../../../kernel/refusal.ts'
import { Amount } from '../../../web/ui/amount.tsx'
import { soleError } from '../../../web/ui/form.tsx'
import { type FormFields, FormPanel } from '../../../web/ui/form-panel.tsx'
import { Notice } from '../../../web/ui/notice.tsx'
import { Pad, PageHead } from '../../../web/ui/panel.tsx'
import type { Redemption } from '../redeem-voucher.ts'

export const vouchersPath = '/dashboard/vouchers'

export type VoucherView = {
  /** The code as typed, and why it was refused. */
  typed?: string
  refusal?: Refusal
  made?: Redemption
}

export const VoucherPage = ({ view }: { view: VoucherView }) => (
  <>
    <PageHead title="Vouchers" />
    <div class="narrow">
      <VoucherPanel view={view} />
    </div>
  </>
)

export const VoucherPanel = ({ view: { typed = '', refusal, made } }: { view: VoucherView }) => (
  <FormPanel
    id="voucher"
    title="Redeem a voucher"
    action="/api/portal/vouchers/redeem"
    target="#voucher"
    of={fields}
    sent={{ draft: { code: typed }, refusal }}
    errorOf={soleError}
    button="Redeem"
    look="go"
    above={
      <Pad>
        <p>A voucher adds its value to your balance at once. Each code works once.</p>
        {made ? (
          <Notice tone="ok" title="Redeemed.">
            <Amount nusd={made.amount} /> came in; your balance is <Amount nusd={made.balance} />.
            It is on your <a href="/dashboard/statement">statement</a>.
          </Notice>
        ) : null}
      </Pad>
    }
  />
)

const fields: FormFields = {
  code: {
    label: 'Code',
    placeholder: '7ZQ4M-…',
    maxlength: 100,
    hint: 'Six groups of five. Case, spaces and hyphens do not matter.',
    required: true,
  },
}
