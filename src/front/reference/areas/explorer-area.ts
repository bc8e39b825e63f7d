import { type Area, ok } from '../operation.ts'
import {
  flag,
  id,
  integer,
  list,
  object,
  oneOf,
  only,
  orNull,
  ref,
  type Schemas,
  text,
  time,
} from '../schema.ts'
import { pageQuery } from './keys-area.ts'
import { receiptFileMembers } from './receipts-schemas.ts'

const windows = ['24h', '7d', '30d', 'all']
const count = (about: string, example: number) => integer(about, example, { minimum: 0 })
const usd = (about: string) =>
  text(`${about} USD, as exact decimal text.`, '0.00000465', { pattern: '^[0-9]+(\\.[0-9]+)?$' })

const seen = {
  object: only('receipt'),
  index: count('Its place in the log.', 11),
  minute: time('The minute it was issued in.'),
  model: orNull(text('The model; null where it is not shown.', 'counterfoil/echo-1')),
  outcome: orNull(text('How the run ended.', 'complete')),
}

const schemas: Schemas = {
  ExplorerStats: object('What everybody may see, in numbers.', {
    object: only('explorer.stats'),
    window: oneOf('Of what time.', windows),
    from: orNull(time('When that begins; null before the first receipt.')),
    receipts: count('In the log, whatever the window.', 12),
    anchored_share_bps: orNull(count('Of these on the chain. Hundredths of a percent.', 8333)),
    runs: count('Runs that ended in the window.', 10),
    success_rate_bps: orNull(count('Of these complete. Hundredths of a percent.', 9000)),
    volume_usd: usd('What public receipts cost.'),
    median_first_token_ms: orNull(count('Of public receipts, if there are 5. Milliseconds.', 120)),
    series_by: oneOf('How long a point is.', ['hour', 'day', 'month']),
    series: list(
      object('An hour, a day or a month.', {
        at: time('When it begins.'),
        runs: count('Runs that ended in it.', 10),
        succeeded: count('Of these complete.', 9),
      }),
      'Without gaps.',
    ),
    top_models: list(
      object('A model of public receipts.', {
        model: text('The model.', 'counterfoil/echo-1'),
        runs: count('Runs.', 10),
        volume_usd: orNull(usd('What they cost, if there are 5.')),
      }),
      'The most used first.',
    ),
  }),
  SeenReceipt: {
    description: 'A public receipt in full, without its texts; of a private one its place only.',
    anyOf: [
      object('A public one.', {
        id: id('rcpt', 'Id of the receipt.'),
        ...seen,
        visibility: only('public'),
        url: text('Its page.', 'https://gw.example/receipts/rcpt_…'),
        ...receiptFileMembers,
      }),
      object('A private one.', { ...seen, visibility: only('private') }),
    ],
  },
  Recent: object('The newest first.', {
    object: only('list'),
    data: list(
      { anyOf: [ref('SeenReceipt'), ref('Anchor'), ref('Passport')] },
      'Of the type that was asked for.',
    ),
    has_more: flag('Whether `after` the last id finds more.', false),
    first_id: orNull(text('Of the first one.', '12')),
    last_id: orNull(text('Of the last one: the next `after`.', '12')),
  }),
}

export const explorerArea: Area = {
  id: 'explorer',
  group: 'programs',
  title: 'Explorer',
  about:
    'What everybody may see. Counts and outcomes cover all receipts; volume, latency and models ' +
    'public ones only. Of a private receipt there is never an account, a key or a cost.',
  operations: [
    {
      id: 'showStats',
      route: 'GET /v1/explorer/stats',
      title: 'Figures of the explorer',
      about: 'At most 10 seconds old.',
      access: 'none',
      query: { window: oneOf('Of what time; default 24h.', windows) },
      examples: [
        { name: 'Of a week', query: { window: '7d' }, status: 200 },
        { name: 'Of all time', query: { window: 'all' }, status: 200 },
      ],
      answers: [ok('The figures.', ref('ExplorerStats'))],
    },
    {
      id: 'listRecent',
      route: 'GET /v1/explorer/recent',
      title: 'Newest receipts, anchors and passports',
      about: 'Receipts, anchors or passports, the newest first.',
      access: 'none',
      query: {
        ...pageQuery,
        after: text('`last_id` of the page before.', '12'),
        type: oneOf('Default: receipt.', ['receipt', 'anchor', 'passport']),
      },
      examples: [
        { name: 'Receipts', query: { type: 'receipt', limit: '5' }, status: 200 },
        { name: 'Anchors', query: { type: 'anchor' }, status: 200 },
        { name: 'Passports', query: { type: 'passport' }, status: 200 },
      ],
      answers: [ok('A page.', ref('Recent'))],
    },
  ],
  schemas,
}
