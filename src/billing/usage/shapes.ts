/** The answers of `/v1/usage`. */
import * as t from '../../web/http/shape.ts'

const dimensions = ['day', 'key', 'model', 'tag'] as const

const sums = {
  runs: t.count('Runs that ended.', 2),
  succeeded: t.count('Of these, complete ones.', 2),
  input_units: t.count('Units read: tokens, cached ones included.', 10),
  output_units: t.count('Units written: tokens, reasoning included.', 10),
  cached_units: t.count('Of those read: from a cache.', 0),
  cache_write_units: t.count('Of those read: written to a cache.', 0),
  reasoning_units: t.count('Of those written: reasoning at a rate of its own.', 0),
  cost_nusd: t.nusd('What was charged.', 9300),
}

export const usageShape = t.answer('Usage', 'Sums of what was used.', {
  object: t.only('usage'),
  from: t.time('Included.'),
  to: t.time('Not included.'),
  group_by: t.list(t.oneOf('A dimension.', dimensions), 'What the rows are by.'),
  data: t.list(
    t.object('A group: it has the members that it is grouped by.', {
      'day?': t.text('UTC.', '2026-08-01', { format: 'date' }),
      'key_id?': t.id('key', 'The key.'),
      'model?': t.text('The model.', 'counterfoil/echo-1'),
      'tag?': t.usuallyNull(
        t.object('A tag; null for runs without any.', {
          name: t.text('Its name.', 'task'),
          value: t.text('Its value.', 'demo'),
        }),
      ),
      ...sums,
    }),
    'In the order of day, key, model, tag.',
  ),
  totals: t.object('Each run once, also where it is in several rows.', sums),
  as_of: t.count('Leaves of the log that were counted.', 12),
  uncounted: t.count('Leaves beyond these; 0 in the ordinary course.', 0),
})

export type UsageAnswer = t.Static<typeof usageShape>

export const manifestShape = t.answer('ExportManifest', 'What an export has, signed.', {
  type: t.only('counterfoil.manifest'),
  rows: t.count('Rows of data.', 12),
  sum_nusd: t.either('What they cost. Nano-USD; text above 9,000,000 USD.', [
    t.integer('', 55_800),
    t.text('', '9000000000000001'),
  ]),
  as_of: t.count('Leaves of the log it goes up to.', 12),
  sha256: t.text('Of the bytes of the file, as hex.', '5c'.repeat(32)),
  checkpoint: t.orNull(t.anything('The first signed head over these leaves.', {})),
  signature: t.text('65 bytes as hex, over `ExportManifest`.', `0x${'5c'.repeat(65)}`),
})
