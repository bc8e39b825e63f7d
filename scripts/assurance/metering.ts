import type { Group } from './row.ts'

export const metering: Group = {
  title: 'Metering',
  rows: [
    {
      id: 'O1',
      severity: 'C',
      promise: 'Each class of tokens is billed once, at its own rate or the dearest of its side.',
      tests: [
        ['test/models/rates.test.ts', 'the bill of a usage'],
        ['test/models/rates.test.ts', 'the same usage in three shapes gives the same bill'],
        ['test/docs/metering.test.ts', '$title is charged as the page says'],
        [
          'test/metering/surfaces.test.ts',
          'a class without a rate is billed at the dearest of reading, or as output',
        ],
      ],
      guards: [
        ['src/models/rates.ts', 'linesOf'],
        ['src/models/reported.ts', 'readUsage'],
      ],
    },
    {
      id: 'O2',
      severity: 'H',
      promise: 'Every surface that adds up tokens counts all classes of a side.',
      tests: [
        ['test/usage/sums.test.ts', 'counts every class on its side, counted by day and just now'],
        ['test/usage/formats.test.ts', 'has a SKU, a unit and an exact price for each'],
        ['test/metering/surfaces.test.ts', 'lists add up the tokens of every class'],
      ],
      guards: [
        ['src/models/meter.ts', 'inputUnitsOf'],
        ['src/models/meter.ts', 'outputUnitsOf'],
      ],
    },
    {
      id: 'O3',
      severity: 'C',
      promise: 'The price list that a receipt names covers every rate; anyone can recompute it.',
      tests: [
        [
          'test/metering/surfaces.test.ts',
          'the price list that a receipt names covers all rates, and anyone can recompute it',
        ],
        [
          'test/metering/restart-prices.test.ts',
          'Plain prices keep version and digest over a restart; a rate more makes a new version.',
        ],
      ],
      guards: [['src/models/prices.ts', 'writePrices']],
    },
    {
      id: 'O4',
      severity: 'H',
      promise: 'A receipt with a meter that its reader does not know verifies, and is shown.',
      tests: [
        ['test/verify/verify.test.ts', 'one with every meter, and with one that no version knows'],
        [
          'test/verify/independent.test.ts',
          'and so does one with every meter, and with one of a later version',
        ],
        [
          'test/browser/verify-page.test.ts',
          'names each meter in words, and one of a later version by its own name',
        ],
      ],
      guards: [['src/verify/meter-words.ts', 'meterWords']],
    },
    {
      id: 'O5',
      severity: 'H',
      promise: 'No account sees what a run costs the operator, on any route, page, export or log.',
      tests: [
        ['test/margins/private.test.ts', 'is not in any answer of %s'],
        ['test/margins/private.test.ts', 'is on no page, to an ordinary account and to a stranger'],
        [
          'test/margins/private.test.ts',
          'is in no export, no metric, no line of the log and no table but its own',
        ],
      ],
      guards: [
        ['src/models/usage.ts', 'wholesaleOf'],
        ['src/front/admin/needs-admin.ts', 'adminAuth'],
      ],
    },
    {
      id: 'O6',
      severity: 'H',
      promise: 'Imported prices are exact, and one without a meter is refused by its name.',
      tests: [
        ['test/price-files/numbers.test.ts', '%s USD is %s pUSD'],
        [
          'test/price-files/litellm.test.ts',
          'a price without a meter is refused by its name: %s of %s',
        ],
        [
          'test/price-files/openrouter.test.ts',
          'a price without a meter is refused by its name: %s of %s',
        ],
        [
          'test/price-files/write.test.ts',
          'change and are added; comments, order and the rest stay',
        ],
      ],
      guards: [
        ['src/kernel/decimal.ts', 'roundUp'],
        ['src/models/price-files/litellm.ts', 'readLitellm'],
        ['src/models/price-files/openrouter.ts', 'readOpenrouter'],
      ],
    },
  ],
}
