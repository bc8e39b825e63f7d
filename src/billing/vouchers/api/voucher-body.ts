/** The body of redeeming a voucher. */
import * as t from '../../../web/http/shape.ts'

/** The voucher in examples, with a valid form and checksum. */
export const sampleCode = '00000-00000-00000-00000-00000-0R0E2'

export const redeemBody = t.body('VoucherWish', 'The voucher to redeem.', {
  code: t.text('As it is printed; spaces, hyphens and case do not count.', sampleCode, {
    maxLength: 100,
  }),
})
