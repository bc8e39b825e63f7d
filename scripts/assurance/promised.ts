import type { Row } from './row.ts'

/** Promises about quotes and exports. */
export const promised: readonly Row[] = [
  {
    id: 'D55',
    severity: 'C',
    promise:
      'A run with a quote is held and charged at the quoted rates, also if prices changed since.',
    tests: [
      [
        'test/quotes/quotes.test.ts',
        'is kept through three price changes at every door, and the receipt names it',
      ],
      [
        'test/quotes/quotes.test.ts',
        'is held at its own rates, so that a dearer list takes no more of the balance',
      ],
      [
        'test/binary/quotes.test.ts',
        'outlives three reloads, a restart and a kill, and the command finds a forged one',
      ],
    ],
    guards: [
      ['src/billing/quotes/apply-quote.ts', 'applyQuote'],
      ['src/models/quoted-rates.ts', 'pricesFrom'],
    ],
  },
  {
    id: 'D56',
    severity: 'C',
    promise:
      'Exactly as many runs are charged by a quote as it says, at once and on two nodes too.',
    tests: [
      [
        'test/quotes/quotes.test.ts',
        'is used exactly as often as it says, however many runs ask at once',
      ],
      ['test/quotes/quotes.test.ts', 'is given back by a run that ends without a charge'],
      [
        'test/binary/quotes.test.ts',
        'is made at one, and used exactly as often as it says by runs of both',
      ],
    ],
    guards: [
      ['src/billing/quotes/quoted.ts', 'usableQuote'],
      ['src/billing/quotes/quoted.ts', 'returnUse'],
    ],
  },
  {
    id: 'D57',
    severity: 'H',
    promise: 'A receipt that did not keep its quote is found, and so is a quote that was changed.',
    tests: [
      [
        'test/verify/quote.test.ts',
        'forged as kept is found: another digest, issuer, account, model, discount or amount',
      ],
      ['test/verify/quote.test.ts', 'of which any byte is changed does not hold'],
    ],
    guards: [['src/verify/quote.ts', 'breachOf']],
  },
  {
    id: 'D58',
    severity: 'H',
    promise: 'An export that was changed does not fit its signed manifest.',
    tests: [
      [
        'test/usage/manifest.test.ts',
        'is the last line of JSON lines, over the bytes before it, and the same each time',
      ],
      [
        'test/usage/manifest.test.ts',
        'fails with a row changed, left out or added, and with any member changed',
      ],
    ],
    guards: [
      ['src/billing/usage/manifest.ts', 'exportTally'],
      ['src/verify/manifest.ts', 'checkExport'],
    ],
  },
  {
    id: 'D59',
    severity: 'C',
    promise:
      'What is said to be owed is the sum of all balances at one moment, to the nano-dollar, on ' +
      'both engines; nothing of a statement counts before all of it is stored.',
    tests: [
      [
        'test/liabilities/publish.test.ts',
        'is the sum of all balances, and each account finds its own in it',
      ],
      [
        'test/liabilities/publish.test.ts',
        'counts nothing that a node left behind which died or lost its lease',
      ],
      [
        'test/liabilities/publish.test.ts',
        'is found out where a leaf was changed or left out, or a balance was lowered',
      ],
      [
        'test/binary/drill-liabilities.test.ts',
        'a killed publication leaves one right statement a day, and its leaf once, on both engines',
      ],
    ],
    guards: [
      ['src/proof/liabilities/state-owed.ts', 'publishLiabilities'],
      ['src/ledger/store/owed.ts', 'expectOwed'],
    ],
  },
  {
    id: 'D60',
    severity: 'C',
    promise:
      'An account that was left out, lowered or given the proof of another finds it out from its ' +
      'file alone; no negative leaf and no sum that wraps lowers the total.',
    tests: [
      [
        'test/verify/liabilities.test.ts',
        'cannot leave an account out, or lower or raise what it counts for',
      ],
      ['test/verify/liabilities.test.ts', 'cannot pass off the proof of another account'],
      [
        'test/verify/liabilities.test.ts',
        'cannot hide debts behind a negative leaf, or a sum that wraps',
      ],
      [
        'test/browser/verify-owed.test.ts',
        'is refused when it was tampered with, dropped onto the page',
      ],
    ],
    guards: [
      ['src/verify/sum-tree.ts', 'verifySum'],
      ['src/verify/liabilities.ts', 'checkLiabilities'],
    ],
  },
  {
    id: 'D61',
    severity: 'H',
    promise:
      'An outsider finds a statement of what is owed that was dropped, hidden or changed, and a ' +
      'treasury that holds less.',
    tests: [
      [
        'test/audit/owed.test.ts',
        'is found out where one is left out, changed, or differs from its file',
      ],
      [
        'test/audit/owed.test.ts',
        'covers what is owed, or does not, and was what the service said',
      ],
      [
        'test/audit/owed-leaves.test.ts',
        'betray a service that leaves its newest statement out of its list',
      ],
    ],
    guards: [
      ['src/front/audit/owed-leaves.ts', 'owedLeaves'],
      ['src/front/audit/check-owed.ts', 'checkSaid'],
      ['src/front/audit/check-owed.ts', 'checkHoldings'],
    ],
  },
]
