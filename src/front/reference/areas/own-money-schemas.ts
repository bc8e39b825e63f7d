import {
  address,
  id,
  integer,
  list,
  nusd,
  object,
  oneOf,
  only,
  orNull,
  page,
  ref,
  type Schema,
  type Schemas,
  sampleIds,
  text,
  time,
  usuallyNull,
} from '../schema.ts'

/** Money that may go out as well as come in. */
const change = (about: string, example: number): Schema =>
  integer(`${about} Nano-USD: 1 USD is 1,000,000,000. Negative for what was paid.`, example)

const kinds = ['grant', 'run', 'deposit', 'plan', 'reversal', 'claim', 'refund', 'loss']

export const ownMoneySchemas: Schemas = {
  DepositAddress: object('Where to send a deposit.', {
    object: only('deposit_address'),
    chain_id: integer('Always 4663.', 4663),
    treasury: address('Who gets it.'),
    token: address('The contract of the stablecoin.'),
    token_decimals: integer('Of the token.', 6),
    min_nusd: nusd('The least that is credited.', 1_000_000_000),
    amount_nusd: orNull(nusd('The amount, if one was named.', 25_000_000_000)),
    amount_usd: orNull(text('The same as decimal USD.', '25')),
    token_amount: orNull(text('The same in the smallest units of the token.', '25000000')),
    link: text('What wallets open (EIP-681).', 'ethereum:0x…@4663/transfer?address=0x…'),
  }),
  OwnDepositPage: page('Deposits of an account.', 'Deposit', {
    deposit_address: usuallyNull(
      ref('DepositAddress', 'Where to send more; null where the server takes none.'),
    ),
  }),
  PlanPreview: object('What a change of plan costs.', {
    object: only('plan.preview'),
    plan: text('The plan.', 'builder'),
    change: oneOf('When it starts: `keep` changes nothing.', ['now', 'later', 'cancel', 'keep']),
    charge_nusd: nusd('Paid now.', 20_000_000_000),
    credit_nusd: nusd('Left of the present month, taken off.', 0),
    starts_at: time('When the plan starts.'),
    paid_until: orNull(time('Until when it is paid then.')),
    quoted_at: time('Goes back with the subscribe, which then costs exactly this.'),
  }),
  Standing: {
    description: 'The subscription of the account, its plan and its money.',
    anyOf: [
      object('', {
        ...standing(),
        id: id('sub', 'Id of the subscription.'),
        status: oneOf('Whether it goes on.', ['active', 'canceling', 'ended', 'lapsed']),
        price_nusd: nusd('Paid for the present period.', 20_000_000_000),
        started_at: time('When it began.'),
        period_start: time('When the present period began.'),
        period_end: orNull(time('When the present period ends.')),
        next_plan: usuallyNull(text('What follows it, if another one does.', 'free')),
        ended_at: usuallyNull(time('When it ended.')),
      }),
      object('On the free plan.', { ...standing(), id: { type: 'null' } }),
    ],
  },
  Movement: object('What changed the balance.', {
    id: text('Its place.', '1785585600000-1'),
    object: only('movement'),
    kind: oneOf('Why.', kinds),
    ref: text('The run, the deposit, the grant or the period it is of.', sampleIds.run),
    at: time('When.'),
    amount_nusd: change('By how much.', -4650),
    balance_nusd: nusd('What was there after it.', 9_999_995_350),
  }),
  MovementPage: page('Movements.', 'Movement'),
  StatementDay: object('A day: opening, runs and movements come to closing.', {
    id: text('The day, UTC.', '2026-08-01'),
    object: only('statement.day'),
    opening_nusd: nusd('What was there before.', 0),
    closing_nusd: nusd('What was there after.', 9_999_995_350),
    runs: object('Its runs.', {
      count: integer('How many.', 1, { minimum: 0 }),
      amount_nusd: change('What they came to.', -4650),
    }),
    movements: list(ref('Movement'), 'What was no run.'),
  }),
  StatementDayPage: page('Days.', 'StatementDay'),
}

function standing(): Record<string, Schema> {
  return {
    object: only('subscription'),
    plan: text('The plan that holds now.', 'builder'),
    available_nusd: nusd('What can still be spent.', 5_000_000_000),
    as_of: time('When that was so.'),
  }
}
