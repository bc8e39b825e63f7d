import type { Group } from './row.ts'

export const explorer: Group = {
  title: 'Explorer and exports',
  rows: [
    {
      id: 'I6',
      severity: 'H',
      promise: 'One private run changes nothing public but counts and its place.',
      tests: [
        [
          'test/explorer/privacy.test.ts',
          'changes nothing public but counts, an index, a minute, a model and an outcome',
        ],
        ['test/explorer/stats.test.ts', '200: no median of less than five first tokens'],
      ],
      guards: [
        ['src/front/explorer/recent.ts', 'makeRecent'],
        ['src/front/explorer/stats.ts', 'makeStats'],
      ],
    },
    {
      id: 'I8',
      severity: 'H',
      promise: 'The newest runs tell no private id, address or key.',
      tests: [
        [
          'test/explorer/recent.test.ts',
          '200: of a private or unlisted receipt its index, minute, model and outcome, no',
        ],
        [
          'test/terminal/commands.test.ts',
          'recent names no private receipt, only its place, its minute, its model and its',
        ],
      ],
      guards: [['src/front/explorer/recent.ts', 'toSeen']],
    },
    {
      id: 'I10',
      severity: 'C',
      promise: 'An export holds what its key may see, and nothing else.',
      tests: [
        ['test/usage/export.test.ts', 'shows a key its own subtree and nothing of anybody else'],
        ['test/usage/portal.test.ts', 'nobody else’s: another account sees its own'],
      ],
      guards: [
        ['src/billing/usage/export.ts', 'exportUsage'],
        ['src/kernel/period.ts', 'readPeriod'],
      ],
    },
  ],
}
