/** The list of an account's runs: how it looks, and what narrows it. */
import { sameOptions } from '../../web/ui/filters.tsx'
import type { ListLook } from '../../web/ui/list-page.tsx'
import { ownRunQuery } from '../api/list-query.ts'
import type { ReceiptStateOf } from '../receipt-state.ts'
import { isInFlight, passedMax, type ShownRun } from '../shown-run.ts'
import { runColumns } from './run-state.tsx'

export const runsPath = '/dashboard/runs'

type RunsView = {
  now: number
  /** The filter, which the pages of its runs keep. */
  query: URLSearchParams
  models: readonly string[]
  /** Undefined if there are too many to list: the form then asks for a key's id. */
  keys: readonly { id: string; name: string }[] | undefined
  receiptStateOf: ReceiptStateOf
}

export const runsLook = ({
  now,
  query,
  models,
  keys,
  receiptStateOf,
}: RunsView): ListLook<ShownRun> => ({
  path: runsPath,
  noun: 'runs',
  about: 'Every run of every key, what it cost, and its receipt.',
  query: ownRunQuery,
  choices: {
    model: sameOptions(models),
    ...(keys && { key: keys.map(({ id, name }) => ({ value: id, label: name })) }),
  },
  columns: runColumns(receiptStateOf, now, query),
  idOf: ({ run }) => run.id,
  isOpen: ({ run }) => isInFlight(run) || receiptStateOf(run) !== 'final',
  passed: passedMax,
  first: 'A run appears here as soon as one of your keys starts it, with its cost and its receipt.',
})
