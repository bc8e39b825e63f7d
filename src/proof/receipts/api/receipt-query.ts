/** Declares what a list of receipts is narrowed by. */

import type { Deps } from '../../../app/deps-port.ts'
import { runIdsFrom } from '../../../kernel/id-part.ts'
import { firstIdAt } from '../../../kernel/ids.ts'
import type { ZoneName } from '../../../kernel/zone.ts'
import * as q from '../../../web/http/query-fields.ts'
import { sampleIds } from '../../../web/http/shape.ts'
import { type ReceiptFilter, type Visibility, visibilities } from '../receipts.ts'

export const visibilityWords: Record<Visibility, string> = {
  private: 'Private',
  unlisted: 'Unlisted',
  public: 'Public',
}

/** The filters of an account's own receipts, on its page and for programs. */
export const ownReceiptQuery = q.declareQuery({
  visibility: q.choice('Who may see it.', visibilities, {
    label: 'Seen by',
    words: visibilityWords,
  }),
  model: q.text('Only those of a model.', 'counterfoil/echo-1', { label: 'Model' }),
  ...q.rowFields(sampleIds.rcpt),
  ...q.pageFields(sampleIds.rcpt),
})

/**
 * Reads the filter; a field that was left empty narrows nothing. Its times are those of the ids,
 * when the runs began.
 * @throws Refusal 'invalid_request'
 */
export function readReceiptFilter(
  query: URLSearchParams,
  { clock, ids }: Pick<Deps, 'clock' | 'ids'>,
  zone?: ZoneName,
): ReceiptFilter {
  const { visibility, model, id: part, ...times } = ownReceiptQuery.readForm(query)
  const named = part && runIdsFrom(part.start)
  const { from = 0, to } = q.timesOf(times, clock.now(), zone)
  const first = firstIdAt('run', from, ids.mark)
  const before = to === undefined ? undefined : firstIdAt('run', to, ids.mark)
  const ends = [named?.last, before].filter((end) => end !== undefined).sort()
  return {
    visibility,
    model,
    since: named && named.least > first ? named.least : first,
    upTo: ends[0],
    end: part?.end,
  }
}
