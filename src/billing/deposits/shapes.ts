/** The bodies and answers of deposits. */
import * as t from '../../web/http/shape.ts'

export const depositShape = t.answer('Deposit', 'A transfer of the stablecoin to the treasury.', {
  id: t.id('dep', 'Id of the deposit.'),
  object: t.only('deposit'),
  status: t.oneOf('How far it is. `ignored` is never credited.', [
    'detected',
    'confirming',
    'credited',
    'finalized',
    'orphaned',
    'reversed',
    'ignored',
  ]),
  reason: t.usuallyNull(
    t.oneOf('Why it waits or is ignored, or that its transfer was credited before.', [
      'below_minimum',
      'above_bounds',
      'other_shard',
      'balance_full',
      'second_behind',
      'second_differs',
      'second_down',
    ]),
  ),
  chain_id: t.integer('Always 4663.', 4663),
  token: t.address('The contract of the stablecoin.'),
  token_amount: t.text('Whole units of the token, as decimal text.', '25'),
  amount_nusd: t.orNull(t.nusd('What it is worth; null when no balance holds it.', 25_000_000_000)),
  from: t.address('The wallet that sent it.'),
  account: t.address('The account it belongs to.'),
  tx_hash: t.hash('The transaction.'),
  log_index: t.count('Its place among the logs of the block.', 3),
  block_number: t.count('The block.', 1_234_567),
  created_at: t.time('When it was seen.'),
  credited_at: t.orNull(t.time('When it became part of the balance.')),
  finalized_at: t.usuallyNull(t.time('When nothing could change it any more.')),
})

export const depositPageShape = t.page('DepositPage', 'Deposits.', depositShape)

export const depositAddressShape = t.answer('DepositAddress', 'Where to send a deposit.', {
  object: t.only('deposit_address'),
  chain_id: t.integer('Always 4663.', 4663),
  treasury: t.address('Who gets it.'),
  token: t.address('The contract of the stablecoin.'),
  token_decimals: t.integer('Of the token.', 6),
  min_nusd: t.nusd('The least that is credited.', 1_000_000_000),
  amount_nusd: t.orNull(t.nusd('The amount, if one was named.', 25_000_000_000)),
  amount_usd: t.orNull(t.text('The same as decimal USD.', '25')),
  token_amount: t.orNull(t.text('The same in the smallest units of the token.', '25000000')),
  link: t.text('What wallets open (EIP-681).', 'ethereum:0x…@4663/transfer?address=0x…'),
})

export const ownDepositPageShape = t.page(
  'OwnDepositPage',
  'Deposits of an account.',
  depositShape,
  {
    deposit_address: t.usuallyNull(
      depositAddressShape,
      'Where to send more; null where the server takes none.',
    ),
  },
)

/** The body of `POST /api/portal/deposits`. */
export const payBody = t.body('PaymentWish', 'What is to be deposited.', {
  'amount?': t.text('Decimal USD. Without it the link names no amount.', '25.00', {
    maxLength: 40,
  }),
})

/** The body of `POST /api/portal/deposits/claim`. */
export const claimBody = t.body(
  'ClaimWish',
  'A transfer from another wallet, and the proof that it is yours.',
  {
    tx_hash: t.text('The transaction of the transfer.', `0x${'5c'.repeat(32)}`, {
      pattern: '^0x[0-9a-fA-F]{64}$',
    }),
    signature: t.text(
      'By the sending wallet, over `Counterfoil: credit the deposit <tx_hash> to <account>`.',
      `0x${'5c'.repeat(65)}`,
      { pattern: '^0x([0-9a-fA-F]{2}){1,4000}$' },
    ),
  },
)

export type DepositAnswer = t.Static<typeof depositShape>
export type DepositAddressAnswer = t.Static<typeof depositAddressShape>
