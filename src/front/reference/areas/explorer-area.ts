/** Reference entries of the explorer. */
import * as t from '../../../web/http/shape.ts'
import { explorerStatsShape, recentShape } from '../../explorer/shapes.ts'
import { area, ok, operation, pageQuery } from '../entry.ts'

const windows = ['24h', '7d', '30d', 'all']

export const explorerArea = area('explorer', 'programs', 'Explorer', {
  about:
    'What everybody may see. Counts and outcomes cover all receipts; volume, latency and models ' +
    'public ones only. Of a private receipt there is never an account, a key or a cost.',
  operations: [
    operation('showStats', 'GET /v1/explorer/stats', 'Figures of the explorer', {
      about: 'At most 10 seconds old.',
      access: 'none',
      query: { window: t.oneOf('Of what time; default 24h.', windows) },
      examples: [
        { name: 'Of a week', query: { window: '7d' }, status: 200 },
        { name: 'Of all time', query: { window: 'all' }, status: 200 },
      ],
      answers: [ok('The figures.', explorerStatsShape)],
    }),
    operation('listRecent', 'GET /v1/explorer/recent', 'Newest receipts, anchors and passports', {
      about: 'Receipts, anchors or passports, the newest first.',
      access: 'none',
      query: {
        ...pageQuery('12'),
        type: t.oneOf('Default: receipt.', ['receipt', 'anchor', 'passport']),
      },
      examples: [
        { name: 'Receipts', query: { type: 'receipt', limit: '5' }, status: 200 },
        { name: 'Anchors', query: { type: 'anchor' }, status: 200 },
        { name: 'Passports', query: { type: 'passport' }, status: 200 },
      ],
      answers: [ok('A page.', recentShape)],
    }),
  ],
})
