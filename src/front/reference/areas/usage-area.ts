/** Reference entries of usage. */
import {
  exportQuery,
  manifestShape,
  usageQuery,
  usageShape,
} from '../../../billing/usage/shapes.ts'
import * as t from '../../../web/http/shape.ts'
import { area, media, ok, operation } from '../entry.ts'

export const usageArea = area('usage', 'programs', 'Usage', {
  about:
    'What the key and the keys below it used. A run counts when it ended, which is when it was ' +
    'charged.',
  operations: [
    operation('showUsage', 'GET /v1/usage', 'Sums of usage', {
      about: 'Over at most 366 days; without a range today and the 29 days before.',
      access: 'usage:read',
      query: usageQuery,
      examples: [{ name: 'By day and model', query: { group_by: 'day,model' }, status: 200 }],
      answers: [ok('The sums.', usageShape)],
    }),
    operation('exportUsage', 'GET /v1/usage/export', 'Usage run by run, as a file', {
      about:
        'Rows in the order of the log. `X-As-Of` says how many leaves it had: with it as `as_of` ' +
        'the same bytes come again. An export that cannot go on breaks the connection. At most 4 ' +
        'of an account at once.',
      access: 'usage:read',
      query: exportQuery,
      examples: [
        { name: 'For a spreadsheet', query: { format: 'csv' }, status: 200 },
        { name: 'For a program', query: { format: 'jsonl' }, status: 200 },
        { name: 'For a cost tool', query: { format: 'focus' }, status: 200 },
      ],
      answers: [
        {
          status: 200,
          about: 'The file.',
          headers: { 'X-As-Of': t.integer('Leaves of the log.', 12, { minimum: 0 }) },
          content: {
            ...media(
              'text/csv',
              'RFC 4180, UTF-8.',
              'time,run_id,receipt_id,receipt_digest,key_id,key_name,…\r\n',
            ),
            ...media(
              'application/jsonl',
              'An object a line.',
              '{"time":"2026-08-01T12:00:00.000Z","run_id":"run_…","cost_nusd":4650}\n',
            ),
          },
        },
      ],
      refuses: ['concurrency_limited'],
    }),
    operation('exportManifest', 'GET /v1/usage/export/manifest', 'The manifest of an export', {
      about:
        'What the file of the same query has, signed: rows, costs, and the SHA-256 of its bytes. ' +
        'Send its `X-As-Of` as `as_of`. JSON lines end with it. `counterfoil verify` checks both.',
      access: 'usage:read',
      query: exportQuery,
      examples: [{ name: 'Of a CSV', query: { format: 'csv' }, status: 200 }],
      answers: [ok('The manifest.', manifestShape)],
      refuses: ['concurrency_limited'],
    }),
  ],
})
