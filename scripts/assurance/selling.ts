import type { Row } from './row.ts'

/** Promises about vouchers and refunds. */
export const selling: readonly Row[] = [
  {
    id: 'D43',
    severity: 'C',
    promise: 'A voucher credits once, however many redeem it at once; guesses are limited.',
    tests: [
      [
        'test/operator/vouchers.test.ts',
        'A hundred redemptions of one code at once, of two accounts, credit it once.',
      ],
      ['test/operator/vouchers-nodes.test.ts', 'Accounts that redeem the same codes in opposite'],
      [
        'test/operator/vouchers.test.ts',
        'An account redeems no more of a batch than it may, however many at once.',
      ],
      [
        'test/operator/vouchers.test.ts',
        'Guesses are limited for the account and for the network, typing errors too.',
      ],
    ],
    guards: [
      ['src/billing/vouchers/redeem-voucher.ts', 'redeem'],
      ['src/billing/vouchers/api/guesses.ts', 'guessesOf'],
    ],
  },
  {
    id: 'D44',
    severity: 'C',
    promise: 'All refunds of a run together give back at most what it cost.',
    tests: [
      [
        'test/operator/refunds.test.ts',
        'All refunds of a run together give back at most what it cost, at once too.',
      ],
    ],
    guards: [['src/billing/refunds/refund.ts', 'refundRun']],
  },
  {
    id: 'D45',
    severity: 'C',
    promise:
      'All refunds of a deposit together never exceed it, also after it moved to another account.',
    tests: [
      ['test/deposits/refund.test.ts', 'A hundred refunds at once take no more than the deposit.'],
      [
        'test/deposits/refund.test.ts',
        'An account that a deposit moves to gets only what was not refunded before.',
      ],
    ],
    guards: [
      ['src/billing/refunds/refund.ts', 'refundDeposit'],
      ['src/billing/deposits/credit-deposit.ts', 'moveDeposit'],
    ],
  },
]
