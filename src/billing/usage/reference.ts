/** Reference entries of usage: of a key and those below it, and of an account. */
import * as t from '../../web/http/shape.ts'
import * as r from '../../web/reference/entry.ts'
import { exportQuery, reportQuery, usageQuery } from './api/usage-query.ts'
import { manifestShape, usageShape } from './shapes.ts'

const { get } = r.entriesUnder('/v1/usage', { access: 'usage:read' })
const own = r.entriesUnder('/api/portal/usage')

const sums = {
  query: usageQuery.parameters,
  examples: [{ name: 'By day and model', query: { group_by: 'day,model' } }],
  answers: r.ok('The sums.', usageShape),
}

const file = {
  query: exportQuery.parameters,
  examples: [
    { name: 'For a spreadsheet', query: { format: 'csv' } },
    { name: 'For a program', query: { format: 'jsonl' } },
    { name: 'For a cost tool', query: { format: 'focus' } },
  ],
  answers: {
    status: 200,
    about: 'The file.',
    headers: { 'X-As-Of': t.integer('Leaves of the log.', 12, { minimum: 0 }) },
    content: {
      ...r.media(
        'text/csv',
        'RFC 4180, UTF-8.',
        'time,run_id,receipt_id,receipt_digest,key_id,key_name,…\r\n',
      ),
      ...r.media(
        'application/jsonl',
        'An object a line.',
        '{"time":"2026-08-01T12:00:00.000Z","run_id":"run_…","cost_nusd":4650}\n',
      ),
    },
  },
  refuses: ['concurrency_limited'],
} as const

const manifest = {
  query: exportQuery.parameters,
  examples: [{ name: 'Of a CSV', query: { format: 'csv' } }],
  answers: r.ok('The manifest.', manifestShape),
  refuses: ['concurrency_limited'],
} as const

export const usageArea = r.area('usage', 'programs', 'Usage', {
  about:
    'What the key and the keys below it used. A run counts when it ended, which is when it was ' +
    'charged.',
  operations: [
    get('showUsage', '', 'Sums of usage', {
      ...sums,
      about: 'Over at most 366 days; without a range today and the 29 days before.',
    }),
    get('exportUsage', '/export', 'Usage run by run, as a file', {
      ...file,
      about:
        'Rows in the order of the log. `X-As-Of` says how many leaves it had: with it as `as_of` ' +
        'the same bytes come again. An export that cannot go on breaks the connection. At most 4 ' +
        'of an account at once.',
    }),
    get('exportManifest', '/export/manifest', 'The manifest of an export', {
      ...manifest,
      about:
        'What the file of the same query has, signed: rows, costs, and the SHA-256 of its bytes. ' +
        'Send its `X-As-Of` as `as_of`. JSON lines end with it. `counterfoil verify` checks both.',
    }),
  ],
})

export const ownUsageEntries = [
  own.get('showOwnUsage', '', 'Sums of usage of the account', {
    ...sums,
    about: 'As `GET /v1/usage`, over all its keys.',
    query: reportQuery.parameters,
    answers: r.shown('The sums.', usageShape),
  }),
  own.get('exportOwnUsage', '/export', 'Usage of the account as a file', {
    ...file,
    about: 'As `GET /v1/usage/export`, over all its keys.',
  }),
  own.get('exportOwnManifest', '/export/manifest', 'The manifest of an export of the account', {
    ...manifest,
    about: 'As `GET /v1/usage/export/manifest`, over all its keys.',
  }),
]
