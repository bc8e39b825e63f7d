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
      ['src/ledger/selling.ts', 'redeem'],
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
    guards: [['src/ledger/selling.ts', 'refundRun']],
  },
]
