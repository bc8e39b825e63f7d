/** What the page *Set up* sends. */
import * as t from '../../../web/http/shape.ts'

/** The body of `POST /setup/claim`. */
export const claimBody = t.body('OperatorClaim', 'The wallet that becomes the operator.', {
  account: t.text('Its address, which must be that of the session.', t.sampleWallet, {
    maxLength: 60,
  }),
})

/** The body of `POST /setup/credit`. */
export const firstCreditBody = t.body('FirstCredit', 'The form of the first credit.', {
  once: t.text('However often it is sent, it grants once.', '1785585600000.0123456789abcdef', {
    maxLength: 40,
  }),
})
