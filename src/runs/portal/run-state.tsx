/** How a run looks in lists: its columns, its state and its receipt's state. */
import { toHex } from '../../kernel/hex.ts'
import type { RefusalType } from '../../kernel/refusal.ts'
import { inputUnitsOf, outputUnitsOf } from '../../models/meter.ts'
import { receiptIdOf } from '../../proof/receipts/receipt.ts'
import { addressOf } from '../../web/http/query.ts'
import { Amount } from '../../web/ui/amount.tsx'
import { IdLink } from '../../web/ui/hash.tsx'
import type { Child } from '../../web/ui/jsx-runtime.ts'
import { Logo, RosetteMark } from '../../web/ui/rosette.tsx'
import { StageBadge } from '../../web/ui/stage.tsx'
import { Badge, Live } from '../../web/ui/status.tsx'
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

export const model: Column<ShownRun> = { head: 'Model', at: 'who', cell: ({ run }) => run.model }

export const cost: Column<ShownRun> = {
  head: 'Cost',
  kind: 'number',
  at: 'cost',
  cell: ({ run }) => (isInFlight(run) ? '…' : <Amount nusd={run.cost} />),
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
  {
    head: 'Run',
    at: 'what',
    cell: ({ run }) => <IdLink value={run.id} href={runPath(run.id, list)} />,
  },
  model,
  { head: 'Key', kind: 'spare', cell: ({ keyName }) => keyName },
  { head: 'Tokens', kind: 'optional-number', cell: ({ run }) => tokensText(run) },
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
  if (run.status === 'running') return <Live>Running</Live>
  if (run.status === 'queued') return <Badge tone="wait">Queued</Badge>
  if (run.status === 'succeeded') return <StageBadge stage={receiptStateOf(run)} />
  const tone = run.status === 'failed' ? 'bad' : 'warn'
  const reason = run.status === 'failed' ? reasonOf(run) : undefined
  return (
    <>
      <Badge tone={tone}>{statusWords[run.status]}</Badge>
      {reason ? <small class="quiet why"> {reason}</small> : null}
    </>
  )
}

/** Why a run failed, in two or three words; its page says all of it. */
export function reasonOf({ error, outcome }: ShownRun['run']): string | undefined {
  if (outcome === 'partial') return 'Broke off'
  return error ? (reasons[error.type] ?? 'Service error') : undefined
}

const reasons: Partial<Record<RefusalType, string>> = {
  unavailable: 'Provider busy',
  rate_limited: 'Provider limit',
  upstream_error: 'Provider error',
  upstream_timeout: 'Provider timed out',
  context_length_exceeded: 'Input too long',
  invalid_request: 'Refused by provider',
  model_not_found: 'No such model',
}

/** Input plus output tokens; a dash while there are none. */
export function tokensText({ lines }: Pick<ShownRun['run'], 'lines'>): Child {
  const tokens = inputUnitsOf(lines) + outputUnitsOf(lines)
  return tokens === 0 ? '–' : tokens.toLocaleString('en-US')
}

/** Changes whenever the page of a run has to be drawn again. */
export function markOf({ run }: ShownRun, receiptStateOf: ReceiptStateOf): string {
  const state = isInFlight(run) ? '' : receiptStateOf(run).charAt(0)
  return `${run.id.slice(-8)}${run.status.charAt(0)}${state}`
}
