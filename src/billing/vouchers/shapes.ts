/** The answers of vouchers. */
import * as t from '../../web/http/shape.ts'

export const redemptionShape = t.answer('VoucherRedemption', 'A voucher that was redeemed.', {
  id: t.text('Its batch and its number, as the journal names it.', 'vou_01k1j8dq00v5x3c7n9/1'),
  object: t.only('voucher.redemption'),
  account: t.address('Who has the money.'),
  amount_nusd: t.nusd('What it was worth.', 5_000_000_000),
  balance_nusd: t.orNull(
    t.nusd(
      'What the account has now, holds included; null for a key below another.',
      15_000_000_000,
    ),
  ),
})

export type RedemptionAnswer = t.Static<typeof redemptionShape>
