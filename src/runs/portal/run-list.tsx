/** The list of an account's runs: how it looks, and what narrows it. */
import type { ZoneName } from '../../kernel/zone.ts'
import { ButtonLink } from '../../web/ui/button.tsx'
import { sameOptions } from '../../web/ui/filters.tsx'
import { isNarrow, type ListLook } from '../../web/ui/list-page.tsx'
import { ownRunQuery } from '../api/list-query.ts'
import type { ReceiptStateOf } from '../receipt-state.ts'
import { isInFlight, passedMax, type ShownRun } from '../shown-run.ts'
import { type DaySums, dayHead, RunFigure } from './run-figure.tsx'
import { runColumns } from './run-state.tsx'

export const runsPath = '/dashboard/runs'

type RunsView = {
  now: number
  zone: ZoneName
  models: readonly string[]
  /** Undefined if there are too many to list: the form then asks for a key's id. */
  keys: readonly { id: string; name: string }[] | undefined
  receiptStateOf: ReceiptStateOf
  /** Sums of the last days; undefined for single rows. */
  sums?: readonly DaySums[]
  /** The filter, which the pages of its runs keep. Sums of days are for a list of all runs. */
  query: URLSearchParams
}

export const runsLook = ({
  now,
  zone,
  models,
  keys,
  receiptStateOf,
  sums,
  query,
}: RunsView): ListLook<ShownRun> => ({
  path: runsPath,
  noun: 'runs',
  about: 'Every run of every key, what it cost, and its receipt.',
  figure: sums ? <RunFigure days={sums} zone={zone} /> : null,
  act: (
    <ButtonLink icon="console" href="/dashboard/console">
      New run
    </ButtonLink>
  ),
  fold: 'early',
  zone,
  days: {
    zone,
    at: ({ run }) => run.createdAt,
    head: dayHead(isNarrow(query) ? undefined : sums, { now, zone }),
  },
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
