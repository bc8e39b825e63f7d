/** Reads the filter of a list of receipts from its address. */
import type { Deps } from '../../../app/deps-port.ts'
import { runIdsFrom } from '../../../kernel/id-part.ts'
import { firstIdAt } from '../../../kernel/ids.ts'
import { readIds, readTimes } from '../../../web/http/list-filter.ts'
import { readChoice, readText, withoutEmpty } from '../../../web/http/query.ts'
import { type ReceiptFilter, visibilities } from '../receipts.ts'

/** The fields of the filter form that other lists do not have. */
export const receiptFilterNames = ['visibility', 'model']

/**
 * What a list is narrowed by; a field that was left empty narrows nothing. Its times are those of
 * the ids, when the runs began.
 * @throws Refusal 'invalid_request'
 */
export function readReceiptFilter(
  asked: URLSearchParams,
  { clock, ids }: Pick<Deps, 'clock' | 'ids'>,
): ReceiptFilter {
  const query = withoutEmpty(asked)
  const part = readIds(query)
  const named = part && runIdsFrom(part.start)
  const { from = 0, to } = readTimes(query, clock.now())
  const first = firstIdAt('run', from, ids.mark)
  const before = to === undefined ? undefined : firstIdAt('run', to, ids.mark)
  const ends = [named?.last, before].filter((id) => id !== undefined).sort()
  return {
    visibility: readChoice(query, 'visibility', visibilities),
    model: readText(query, 'model'),
    since: named && named.least > first ? named.least : first,
    upTo: ends[0],
    end: part?.end,
  }
}
