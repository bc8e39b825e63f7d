/** The answers of the explorer. */
import { anchorShape } from '../../proof/anchors/shapes.ts'
import { passportShape } from '../../proof/passports/shapes.ts'
import { receiptFileMembers } from '../../proof/receipts/shapes.ts'
import * as t from '../../web/http/shape.ts'

const windows = ['24h', '7d', '30d', 'all'] as const

const usd = (about: string) =>
  t.text(`${about} USD, as exact decimal text.`, '0.00000465', { pattern: '^[0-9]+(\\.[0-9]+)?$' })

const shard = t.text('The shard that this is of; absent without shards.', 's3')

const seen = {
  object: t.only('receipt'),
  index: t.count('Its place in the log.', 11),
  minute: t.time('The minute it was issued in.'),
  model: t.orNull(t.text('The model; null where it is not shown.', 'counterfoil/echo-1')),
  outcome: t.orNull(t.text('How the run ended.', 'complete')),
}

export const explorerStatsShape = t.answer('ExplorerStats', 'What everybody may see, in numbers.', {
  object: t.only('explorer.stats'),
  'shard?': shard,
  window: t.oneOf('Of what time.', windows),
  from: t.orNull(t.time('When that begins; null before the first receipt.')),
  receipts: t.count('In the log, whatever the window.', 12),
  anchored_share_bps: t.orNull(t.count('Of these on the chain. Hundredths of a percent.', 8333)),
  runs: t.count('Runs that ended in the window.', 10),
  success_rate_bps: t.orNull(t.count('Of these complete. Hundredths of a percent.', 9000)),
  volume_usd: usd('What public receipts cost.'),
  median_first_token_ms: t.orNull(
    t.count('Of public receipts, if there are 5. Milliseconds.', 120),
  ),
  series_by: t.oneOf('How long a point is.', ['hour', 'day', 'month']),
  series: t.list(
    t.object('An hour, a day or a month.', {
      at: t.time('When it begins.'),
      runs: t.count('Runs that ended in it.', 10),
      succeeded: t.count('Of these complete.', 9),
    }),
    'Without gaps.',
  ),
  top_models: t.list(
    t.object('A model of public receipts.', {
      model: t.text('The model.', 'counterfoil/echo-1'),
      runs: t.count('Runs.', 10),
      volume_usd: t.orNull(usd('What they cost, if there are 5.')),
    }),
    'The most used first.',
  ),
})

export const seenReceiptShape = t.choice(
  'SeenReceipt',
  'A public receipt in full, without its texts; of a private one its place only.',
  [
    t.object('A public one.', {
      id: t.id('rcpt', 'Id of the receipt.'),
      ...seen,
      visibility: t.only('public'),
      url: t.text('Its page.', 'https://gw.example/receipts/rcpt_…'),
      ...receiptFileMembers,
    }),
    t.object('A private one.', { ...seen, visibility: t.only('private') }),
  ],
)

export const recentShape = t.answer('Recent', 'The newest first.', {
  object: t.only('list'),
  'shard?': shard,
  data: t.list(
    t.either('', [seenReceiptShape, anchorShape, passportShape]),
    'Of the type that was asked for.',
  ),
  has_more: t.flag('Whether `after` the last id finds more.', false),
  first_id: t.orNull(t.text('Of the first one.', '12')),
  last_id: t.orNull(t.text('Of the last one: the next `after`.', '12')),
})

export type StatsAnswer = t.Static<typeof explorerStatsShape>
export type RecentAnswer = t.Static<typeof recentShape>
