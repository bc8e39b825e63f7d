/** Reference entries of the explorer. */
import * as r from '../../web/reference/entry.ts'
import { recentQuery, statsQuery } from './api/explorer-query.ts'
import { explorerStatsShape, recentShape } from './shapes.ts'

const { get } = r.entriesUnder('/v1/explorer')

export const explorerArea = r.area('explorer', 'programs', 'Explorer', {
  about:
    'What everybody may see. Counts and outcomes cover all receipts; volume, latency and models ' +
    'public ones only. Of a private receipt there is never an account, a key or a cost.',
  operations: [
    get('showStats', '/stats', 'Figures of the explorer', {
      about: 'At most 10 seconds old.',
      query: statsQuery.parameters,
      examples: [
        { name: 'Of a week', query: { window: '7d' } },
        { name: 'Of all time', query: { window: 'all' } },
      ],
      answers: r.ok('The figures.', explorerStatsShape),
    }),
    get('listRecent', '/recent', 'Newest receipts, anchors and passports', {
      about: 'Receipts, anchors or passports, the newest first.',
      query: recentQuery.parameters,
      examples: [
        { name: 'Receipts', query: { type: 'receipt', limit: '5' } },
        { name: 'Anchors', query: { type: 'anchor' } },
        { name: 'Passports', query: { type: 'passport' } },
      ],
      answers: r.ok('A page.', recentShape),
    }),
  ],
})
