import { unitsOf } from '../../billing/usage/usage.ts'
import { toHex } from '../../kernel/hex.ts'
import { receiptIdOf } from '../../proof/receipts/receipt.ts'
import { Amount } from '../../web/ui/amount.tsx'
import { IdLink } from '../../web/ui/hash.tsx'
import type { Child } from '../../web/ui/jsx-runtime.ts'
import { RosetteMark } from '../../web/ui/rosette.tsx'
import { Badge, Live, type Tone } from '../../web/ui/status.tsx'
import type { Column } from '../../web/ui/table.tsx'
import { When } from '../../web/ui/when.tsx'
import { isInFlight, type ShownRun } from '../shown-run.ts'
import type { Standing, StandingOf } from '../standing.ts'

export const runPath = (id: string): string => `/dashboard/runs/${id}`
export const receiptPath = (runId: string): string => `/receipts/${receiptIdOf(runId)}`

/** The figure of what was signed; nothing is signed of a run in flight. */
export const figure: Column<ShownRun> = {
  head: 'Figure',
  kind: 'unnamed',
  cell: ({ run }) => (run.digest === null ? null : <RosetteMark hash={toHex(run.digest)} />),
}

export const model: Column<ShownRun> = { head: 'Model', cell: ({ run }) => run.model }

/** Of a run in flight it is not known yet. */
export const cost: Column<ShownRun> = {
  head: 'Cost',
  kind: 'number',
  cell: ({ run }) => (isInFlight(run) ? '…' : <Amount nusd={run.cost} places={9} />),
}

export const stateBy = (standingOf: StandingOf): Column<ShownRun> => ({
  head: 'State',
  cell: ({ run }) => <RunState run={run} standingOf={standingOf} />,
})

/** The columns of the list of runs. */
export const runColumns = (standingOf: StandingOf, now: number): Column<ShownRun>[] => [
  figure,
  { head: 'Run', cell: ({ run }) => <IdLink value={run.id} href={runPath(run.id)} /> },
  model,
  { head: 'Key', kind: 'optional', cell: ({ keyName }) => keyName },
  { head: 'Tokens', kind: 'optional-number', cell: ({ run }) => tokensText(run) },
  cost,
  stateBy(standingOf),
  { head: 'When', kind: 'optional', cell: ({ run }) => <When at={run.createdAt} now={now} /> },
]

/** A run's state in a word or two, and what of its receipt is there. */
export function RunState({ run, standingOf }: { run: ShownRun['run']; standingOf: StandingOf }) {
  if (run.status === 'running') return <Live>Running</Live>
  if (run.status === 'queued') return <Badge tone="wait">Queued</Badge>
  if (run.status === 'succeeded') {
    const [tone, words] = standingWords[standingOf(run)]
    return <Badge tone={tone}>{words}</Badge>
  }
  const charged = run.cost > 0n ? 'charged in part' : 'not charged'
  const tone = run.status === 'failed' ? 'bad' : 'warn'
  return <Badge tone={tone}>{`${statusWords[run.status]}, ${charged}`}</Badge>
}

const standingWords: Record<Standing, [tone: Tone, words: string]> = {
  signing: ['wait', 'Signing'],
  signed: ['wait', 'Signed'],
  anchored: ['ok', 'Anchored'],
}

export const statusWords: Record<ShownRun['run']['status'], string> = {
  queued: 'Queued',
  running: 'Running',
  succeeded: 'Succeeded',
  failed: 'Failed',
  cancelled: 'Cancelled',
  interrupted: 'Interrupted',
}

/** Tokens in and out together; a dash while nothing is counted. */
export function tokensText({ lines }: Pick<ShownRun['run'], 'lines'>): Child {
  const tokens = unitsOf(lines, 'input') + unitsOf(lines, 'output')
  return tokens === 0 ? '—' : tokens.toLocaleString('en-US')
}

/** What changes of a run while it is looked at. */
export const markOf = ({ run }: ShownRun, standingOf: StandingOf): string =>
  `${run.id.slice(-8)}${run.status.charAt(0)}${isInFlight(run) ? '' : standingOf(run).slice(-1)}`
