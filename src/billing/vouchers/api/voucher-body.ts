/** The body of redeeming a voucher. */
import * as t from '../../../web/http/shape.ts'

/** A voucher of examples: it has the form and the checksum of one. */
export const sampleCode = '00000-00000-00000-00000-00000-0R0E2'

export const redeemBody = t.body('VoucherWish', 'The voucher to redeem.', {
  code: t.text('As it is printed; spaces, hyphens and case do not count.', sampleCode, {
    maxLength: 100,
  }),
})
