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
      ['src/ledger/quoted.ts', 'usableQuote'],
      ['src/ledger/quoted.ts', 'returnUse'],
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
]
