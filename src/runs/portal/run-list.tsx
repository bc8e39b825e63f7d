/** The list of an account's runs: how it looks, and what narrows it. */
import { namedOptions, sameOptions } from '../../web/ui/filters.tsx'
import type { Listed, ListLook } from '../../web/ui/list-page.tsx'
import type { ReceiptStateOf } from '../receipt-state.ts'
import { isInFlight, passedMax, type ShownRun } from '../shown-run.ts'
import { runColumns, statusWords } from './run-state.tsx'

export const runsPath = '/dashboard/runs'

/** The choices of the form, and the states of receipts. */
export type RunsView = Listed<ShownRun> & {
  models: readonly string[]
  /** Undefined if there are too many to list: the form then asks for a key's id. */
  keys: readonly { id: string; name: string }[] | undefined
  receiptStateOf: ReceiptStateOf
}

export const runsLook = ({
  now,
  models,
  keys,
  receiptStateOf,
}: Pick<RunsView, 'now' | 'models' | 'keys' | 'receiptStateOf'>): ListLook<ShownRun> => ({
  path: runsPath,
  noun: 'runs',
  about: 'Every run of every key, what it cost, and its receipt.',
  filters: [
    { name: 'status', label: 'State', options: namedOptions(statusWords) },
    { name: 'model', label: 'Model', options: sameOptions(models) },
    keys
      ? {
          name: 'key',
          label: 'Key',
          options: keys.map(({ id, name }) => ({ value: id, label: name })),
        }
      : { name: 'key', label: 'Key', placeholder: 'key_…' },
    { name: 'tag', label: 'Tag', placeholder: 'team:search', isMore: true },
  ],
  columns: runColumns(receiptStateOf, now),
  idOf: ({ run }) => run.id,
  isOpen: ({ run }) => isInFlight(run) || receiptStateOf(run) !== 'final',
  passed: passedMax,
  first: 'A run appears here as soon as one of your keys starts it, with its cost and its receipt.',
})
