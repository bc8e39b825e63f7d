/** Declares what lists of runs are narrowed by. */
import type { Millis } from '../../kernel/clock.ts'
import { isId } from '../../kernel/ids.ts'
import { refuse } from '../../kernel/refusal.ts'
import * as q from '../../web/http/query-fields.ts'
import { sampleIds } from '../../web/http/shape.ts'
import { type RunStatus, runStatuses } from '../run.ts'
import { readTag, type ShownFilter } from '../shown-run.ts'

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

/** Of an account, on its page and for programs. */
export const ownRunQuery = q.declareQuery({
  ...narrow,
  key: q.parsed(
    'Only those of a key.',
    sampleIds.key,
    (id, param) =>
      isId('key', id)
        ? id
        : refuse('invalid_request', { param, message: '"key" must be the id of a key.' }),
    { label: 'Key', placeholder: 'key_…' },
  ),
  tag: q.parsed('Only those with a tag: `name:value`.', 'team:research', readTag, {
    label: 'Tag',
    placeholder: 'team:search',
    isMore: true,
  }),
  ...q.rowFields(sampleIds.run),
  ...q.pageFields(sampleIds.run),
})

/**
 * Reads the filter; a field that was left empty narrows nothing.
 * @throws Refusal 'invalid_request'
 */
export function readFilter(query: URLSearchParams, now: Millis): ShownFilter {
  const { status, model, key: keyId, tag, id: ids, ...times } = ownRunQuery.readForm(query)
  return { status, model, keyId, tag, ids, ...q.timesOf(times, now) }
}
