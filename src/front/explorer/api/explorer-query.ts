/** Declares the queries of the explorer, of one shard and of all. */
import * as q from '../../../web/http/query-fields.ts'
import { windows } from '../stats.ts'

export const statsQuery = q.declareQuery({
  window: q.choice('Of what time; default 24h.', windows),
})

export const recentQuery = q.declareQuery({
  ...q.pageFields('12'),
  type: q.choice('Default: receipt.', ['receipt', 'anchor', 'passport']),
})
