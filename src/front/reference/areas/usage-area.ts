import { type Area, ok } from '../operation.ts'
import {
  id,
  integer,
  list,
  nusd,
  object,
  oneOf,
  only,
  ref,
  type Schemas,
  text,
  time,
  usuallyNull,
} from '../schema.ts'

const dimensions = ['day', 'key', 'model', 'tag']
const range = (about: string, example: string) =>
  text(`${about} A date (UTC, whole) or an RFC 3339 time.`, example)

const sums = {
  runs: integer('Runs that ended.', 2, { minimum: 0 }),
  succeeded: integer('Of these, complete ones.', 2, { minimum: 0 }),
  input_units: integer('Units read: tokens.', 10, { minimum: 0 }),
  output_units: integer('Units written: tokens.', 10, { minimum: 0 }),
  cost_nusd: nusd('What was charged.', 9300),
}

const schemas: Schemas = {
  Usage: object('Sums of what was used.', {
    object: only('usage'),
    from: time('Included.'),
    to: time('Not included.'),
    group_by: list(oneOf('A dimension.', dimensions), 'What the rows are by.'),
    data: list(
      object('A group: it has the members that it is grouped by.', {
        'day?': text('UTC.', '2026-08-01', { format: 'date' }),
        'key_id?': id('key', 'The key.'),
        'model?': text('The model.', 'counterfoil/echo-1'),
        'tag?': usuallyNull(
          object('A tag; null for runs without any.', {
            name: text('Its name.', 'task'),
            value: text('Its value.', 'demo'),
          }),
        ),
        ...sums,
      }),
      'In the order of day, key, model, tag.',
    ),
    totals: object('Each run once, also where it is in several rows.', sums),
    as_of: integer('Leaves of the log that were counted.', 12, { minimum: 0 }),
    uncounted: integer('Leaves beyond these; 0 in the ordinary course.', 0, { minimum: 0 }),
  }),
}

export const usageArea: Area = {
  id: 'usage',
  group: 'programs',
  title: 'Usage',
  about:
    'What the key and the keys below it used. A run counts when it ended, which is when it was ' +
    'charged.',
  operations: [
    {
      id: 'showUsage',
      route: 'GET /v1/usage',
      title: 'Sums of usage',
      about: 'Over at most 366 days; without a range today and the 29 days before.',
      access: 'usage:read',
      query: {
        from: range('The start.', '2026-08-01'),
        to: range('The end, a day included.', '2026-08-31'),
        group_by: text(`One or more of ${dimensions.join(', ')}, with commas.`, 'day,model'),
      },
      examples: [{ name: 'By day and model', query: { group_by: 'day,model' }, status: 200 }],
      answers: [ok('The sums.', ref('Usage'))],
    },
    {
      id: 'exportUsage',
      route: 'GET /v1/usage/export',
      title: 'Usage run by run, as a file',
      about:
        'Rows in the order of the log. `X-As-Of` says how many leaves it had: with it as `as_of` ' +
        'the same bytes come again. An export that cannot go on breaks the connection. At most 4 ' +
        'of an account at once.',
      access: 'usage:read',
      query: {
        format: oneOf('`focus` is FinOps FOCUS 1.2.', ['csv', 'jsonl', 'focus']),
        from: range('The start; default: all there is.', '2026-08-01'),
        to: range('The end.', '2026-08-31'),
        as_of: integer('Leaves of the log to go up to.', 12, { minimum: 0 }),
      },
      examples: [
        { name: 'For a spreadsheet', query: { format: 'csv' }, status: 200 },
        { name: 'For a program', query: { format: 'jsonl' }, status: 200 },
        { name: 'For a cost tool', query: { format: 'focus' }, status: 200 },
      ],
      answers: [
        {
          status: 200,
          about: 'The file.',
          headers: { 'X-As-Of': integer('Leaves of the log.', 12, { minimum: 0 }) },
          content: {
            'text/csv': {
              schema: text('RFC 4180, UTF-8.', ''),
              sample: 'time,run_id,receipt_id,receipt_digest,key_id,key_name,…\r\n',
            },
            'application/jsonl': {
              schema: text('An object a line.', ''),
              sample: '{"time":"2026-08-01T12:00:00.000Z","run_id":"run_…","cost_nusd":4650}\n',
            },
          },
        },
      ],
      refuses: ['concurrency_limited'],
    },
  ],
  schemas,
}
