/** How a run looks in lists: its columns, its state and its receipt's state. */
import { toHex } from '../../kernel/hex.ts'
import { inputUnitsOf, outputUnitsOf } from '../../models/meter.ts'
import { receiptIdOf } from '../../proof/receipts/receipt.ts'
import { addressOf } from '../../web/http/query.ts'
import { Amount } from '../../web/ui/amount.tsx'
import { CopyId } from '../../web/ui/hash.tsx'
import { Logo, RosetteMark } from '../../web/ui/rosette.tsx'
import { StageBadge } from '../../web/ui/stage.tsx'
import { Badge } from '../../web/ui/status.tsx'
import type { Column } from '../../web/ui/table.tsx'
import { When } from '../../web/ui/when.tsx'
import { statusWords } from '../api/list-query.ts'
import type { ReceiptStateOf } from '../receipt-state.ts'
import { isInFlight, type ShownRun } from '../shown-run.ts'

export const runPath = (id: string, list?: URLSearchParams): string =>
  addressOf(`/dashboard/runs/${id}`, new URLSearchParams(list))
export const receiptPath = (runId: string): string => `/receipts/${receiptIdOf(runId)}`

/** The figure of the receipt's digest; the logo turns while a run is in flight. */
export const figure: Column<ShownRun> = {
  head: 'Figure',
  kind: 'unnamed',
  at: 'mark',
  cell: ({ run }) => {
    if (isInFlight(run)) return <Logo going />
    return run.digest === null ? null : <RosetteMark hash={toHex(run.digest)} />
  },
}

/** The whole row is a link: to the run, or to what `hrefOf` says. */
export const modelTo = (hrefOf = ({ id }: ShownRun['run']) => runPath(id)): Column<ShownRun> => ({
  head: 'Model',
  at: 'what',
  cell: ({ run }) => (
    <a class="to what" href={hrefOf(run)}>
      {run.model}
      <span class="vh"> {run.id}</span>
    </a>
  ),
})

export const keyName: Column<ShownRun> = {
  head: 'Key',
  at: 'who',
  cell: ({ keyName }) => <span class="quiet">{keyName}</span>,
}

export const cost: Column<ShownRun> = {
  head: 'Cost',
  kind: 'number',
  at: 'cost',
  cell: ({ run }) =>
    isInFlight(run) ? <Held nusd={run.hold} /> : <Amount nusd={run.cost} as="list" />,
}

export const stateBy = (receiptStateOf: ReceiptStateOf): Column<ShownRun> => ({
  head: 'State',
  at: 'state',
  cell: ({ run }) => <RunState run={run} receiptStateOf={receiptStateOf} />,
})

/** The columns of the list of runs. */
export const runColumns = (
  receiptStateOf: ReceiptStateOf,
  now: number,
  list: URLSearchParams,
): Column<ShownRun>[] => [
  figure,
  { head: 'Run', kind: 'optional', cell: ({ run }) => <CopyId value={run.id} /> },
  modelTo(({ id }) => runPath(id, list)),
  keyName,
  { head: 'Tokens', kind: 'number', at: 'more', cell: ({ run }) => <Tokens of={run} /> },
  cost,
  stateBy(receiptStateOf),
  when(now),
]

export const when = (now: number): Column<ShownRun> => ({
  head: 'When',
  kind: 'optional',
  at: 'when',
  cell: ({ run }) => <When at={run.createdAt} now={now} />,
})

/** A run's state and its receipt's state in a word; what it charged stands beside it. */
export function RunState({
  run,
  receiptStateOf,
}: {
  run: ShownRun['run']
  receiptStateOf: ReceiptStateOf
}) {
  if (run.status === 'running') return <Badge tone="going">Running</Badge>
  if (run.status === 'queued') return <Badge tone="wait">Queued</Badge>
  if (run.status === 'succeeded') return <StageBadge stage={receiptStateOf(run)} />
  if (run.status !== 'failed') return <Badge tone="off">{statusWords[run.status]}</Badge>
  const type = run.error?.type ?? ''
  return <Badge tone="bad">{failureWords[type] ?? statusWords.failed}</Badge>
}

/** Why a run failed, as short as a row needs it; its page has the whole message. */
const failureWords: Readonly<Record<string, string>> = {
  upstream_error: 'Provider failed',
  upstream_timeout: 'Provider too slow',
  rate_limited: 'Provider busy',
  unavailable: 'Not available',
  invalid_request: 'Request refused',
  context_length_exceeded: 'Context too long',
  unprocessable: 'Request refused',
  internal_error: 'Service failed',
}

const Held = ({ nusd }: { nusd: bigint }) => (
  <>
    <span class="quiet">held</span> <Amount nusd={nusd} as="list" round="up" />
  </>
)

/** Input plus output tokens; while there are none a dash, which rows in two lines leave out. */
function Tokens({ of: { lines } }: { of: Pick<ShownRun['run'], 'lines'> }) {
  const tokens = inputUnitsOf(lines) + outputUnitsOf(lines)
  if (tokens === 0) return <span class="quiet">–</span>
  return (
    <>
      {tokens.toLocaleString('en-US')}
      <span class="also"> tokens</span>
    </>
  )
}

/** Changes whenever the page of a run has to be drawn again. */
export function markOf({ run }: ShownRun, receiptStateOf: ReceiptStateOf): string {
  const state = isInFlight(run) ? '' : receiptStateOf(run).charAt(0)
  return `${run.id.slice(-8)}${run.status.charAt(0)}${state}`
}
