/** Reads the filters of a list of runs from its address. */
import type { Millis } from '../../kernel/clock.ts'
import { isId } from '../../kernel/ids.ts'
import { refuse } from '../../kernel/refusal.ts'
import { readIds, readTimes } from '../../web/http/list-filter.ts'
import { readChoice, readText, withoutEmpty } from '../../web/http/query.ts'
import { runStatuses } from '../run.ts'
import { readTag, type ShownFilter } from '../shown-run.ts'

/** The fields of the filter form that other lists do not have. */
export const runFilterNames = ['status', 'model', 'key', 'tag']

/**
 * Reads what a list of runs is narrowed by; a field that was left empty narrows nothing.
 * @throws Refusal 'invalid_request'
 */
export function readFilter(query: URLSearchParams, now: Millis): ShownFilter {
  const filled = withoutEmpty(query)
  const keyId = readText(filled, 'key')
  if (keyId !== undefined && !isId('key', keyId)) {
    refuse('invalid_request', { param: 'key', message: '"key" must be the id of a key.' })
  }
  const tag = readText(filled, 'tag')
  return {
    status: readChoice(filled, 'status', runStatuses),
    model: readText(filled, 'model'),
    keyId,
    tag: tag === undefined ? undefined : readTag(tag),
    ids: readIds(filled),
    ...readTimes(filled, now),
  }
}
