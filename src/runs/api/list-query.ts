/** Declares what lists of runs are narrowed by. */
import type { Millis } from '../../kernel/clock.ts'
import { isId } from '../../kernel/ids.ts'
import { refuse } from '../../kernel/refusal.ts'
import type { ZoneName } from '../../kernel/zone.ts'
import * as q from '../../web/http/query-fields.ts'
import { sampleIds } from '../../web/http/shape.ts'
import { type RunStatus, readTag, runStatuses } from '../run.ts'

export const statusWords: Record<RunStatus, string> = {
  queued: 'Queued',
  running: 'Running',
  succeeded: 'Succeeded',
  failed: 'Failed',
  cancelled: 'Stopped',
  interrupted: 'Interrupted',
}

const narrow = {
  status: q.choice('Only those.', runStatuses, { label: 'State', words: statusWords }),
  model: q.text('Only those of a model.', 'counterfoil/echo-1', { label: 'Model' }),
}

/** Of a key and the keys below it. */
export const runQuery = q.declareQuery({ ...q.pageFields(sampleIds.run), ...narrow })

const ownNarrow = {
  ...narrow,
  tag: q.parsed('Only those with a tag: `name:value`.', 'team:research', readTag, {
    label: 'Tag',
    placeholder: 'team:search',
    isMore: true,
  }),
}
/** The fields that the store compares as they were read. */
export type RunNarrowing = Partial<q.Values<typeof ownNarrow>>

/** Of an account, on its page and for programs. */
export const ownRunQuery = q.declareQuery({
  ...ownNarrow,
  key: q.parsed(
    'Only those of a key.',
    sampleIds.key,
    (id, param) =>
      isId('key', id)
        ? id
        : refuse('invalid_request', { param, message: '"key" must be the id of a key.' }),
    { label: 'Key', placeholder: 'key_…' },
  ),
  ...q.rowFields(sampleIds.run),
  ...q.pageFields(sampleIds.run),
})

/**
 * Reads the filter; a field that was left empty narrows nothing.
 * @throws Refusal 'invalid_request'
 */
export function readFilter(query: URLSearchParams, now: Millis, zone?: ZoneName) {
  const { key: keyId, id: ids, last, from, to, sort: _, ...rest } = ownRunQuery.readForm(query)
  const { limit: _limit, after: _after, ...narrowing } = rest
  return { ...narrowing, keyId, ids, ...q.timesOf({ last, from, to }, now, zone) }
}
