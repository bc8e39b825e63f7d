/** Reference entries of vouchers. */
import * as r from '../../web/reference/entry.ts'
import { redeemBody, sampleCode } from './api/voucher-body.ts'
import { redemptionShape } from './shapes.ts'

const shared = { body: redeemBody, examples: r.bothWays('A voucher', { code: sampleCode }) }

export const voucherEntry = r
  .entriesUnder('/v1/vouchers')
  .post('redeemVoucher', '/redeem', 'Redeem a voucher', {
    ...shared,
    about:
      'Credits the account of the key, once. Of codes that do not exist an account and a ' +
      'network may try a few a minute.',
    access: 'any',
    isIdempotent: true,
    examples: shared.examples.slice(0, 1),
    answers: r.ok('What it credited.', redemptionShape),
    refuses: ['not_found', 'conflict', 'gone'],
  })

export const ownVoucherEntry = r
  .entriesUnder('/api/portal/vouchers')
  .post('redeemOwnVoucher', '/redeem', 'Redeem a voucher by hand', {
    ...shared,
    about: 'Credits the account that is signed in, once.',
    answers: r.done('What it credited.', redemptionShape),
    refuses: ['not_found', 'conflict', 'gone', 'rate_limited'],
  })
