/** Usage in the shape of the API. */
import { toRfc3339 } from '../../kernel/clock.ts'
import { toJsonInteger } from '../../kernel/money.ts'
import type { UsageAnswer } from './shapes.ts'
import type { Dimension, Usage, UsageRow } from './sum.ts'
import type { Sums } from './usage.ts'

/** The body of `GET /v1/usage`. */
export const toUsageView = (usage: Usage): UsageAnswer => ({
  object: 'usage',
  from: toRfc3339(usage.from),
  to: toRfc3339(usage.to),
  group_by: usage.groupBy.filter((one): one is Dimension => one !== 'provider'),
  data: usage.rows.map(toRowView),
  totals: toSumsView(usage.totals),
  as_of: usage.asOf,
  uncounted: usage.uncounted,
})

const toRowView = ({ day, keyId, model, tag, provider: _, waits: _w, ...sums }: UsageRow) => ({
  ...(day === undefined ? {} : { day: toDate(day) }),
  ...(keyId === undefined ? {} : { key_id: keyId }),
  ...(model === undefined ? {} : { model }),
  ...(tag === undefined ? {} : { tag }),
  ...toSumsView(sums),
})

const toSumsView = (sums: Sums) => ({
  runs: sums.runs,
  succeeded: sums.succeeded,
  input_units: sums.inputUnits,
  output_units: sums.outputUnits,
  cached_units: sums.cachedUnits,
  cache_write_units: sums.cacheWriteUnits,
  reasoning_units: sums.reasoningUnits,
  cost_nusd: toJsonInteger(sums.cost),
})

export const toDate = (at: number): string => toRfc3339(at).slice(0, 10)
