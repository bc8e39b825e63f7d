/** The explorer's list of receipts. */
import { inputUnitsOf, outputUnitsOf } from '../../../models/meter.ts'
import { isHidden } from '../../../verify/receipt.ts'
import { Amount } from '../../../web/ui/amount.tsx'
import { ButtonLink } from '../../../web/ui/button.tsx'
import { IdLink } from '../../../web/ui/hash.tsx'
import { renderChild } from '../../../web/ui/jsx-runtime.ts'
import { LiveList } from '../../../web/ui/live-list.tsx'
import { List } from '../../../web/ui/paged-list.tsx'
import { RosetteMark } from '../../../web/ui/rosette.tsx'
import { type Column, Table, TableRow, WideRow } from '../../../web/ui/table.tsx'
import { When } from '../../../web/ui/when.tsx'
import type { Line } from '../fold.ts'
import { foldWords } from '../fold-words.ts'
import type { Heads, SeenPage } from '../overview.ts'
import type { SeenReceipt } from '../recent.ts'
import { hrefOf, type Place, streamOf } from './place.ts'
import { PublicSwitch, StageOf } from './slips.tsx'

/** New receipts that one message brings at most, and the largest length of the live list. */
export const rowsMax = 20

export type ListView = {
  now: number
  place: Place
  seen: SeenPage
  /** Whether this is the newest page. */
  isFirst: boolean
  /** The figure of an empty list, as hex. */
  hash: string
  heads: Heads
}

export function RecentPanel({ view }: { view: ListView }) {
  const { seen, isFirst, place } = view
  const last = seen.items.at(-1)
  return (
    <List
      id="recent"
      title={isFirst ? 'Recent receipts' : 'Older receipts'}
      noun="receipts"
      items={seen.items}
      columns={[]}
      body={
        <Table
          caption="Receipts"
          columns={columnsAt(view)}
          rows={[]}
          bodyId="results"
          body={seen.items.map((line) => <LineRow view={view} line={line} />)}
        />
      }
      href={hrefOf(place)}
      next={seen.hasMore && last ? lastPlaceOf(last)?.toString() : undefined}
      isFirst={isFirst}
      hash={view.hash}
      empty={{
        title: 'No receipts yet',
        text: 'Every run that reaches a model leaves a receipt here, moments after it ends.',
        action: <ButtonLink href="/models">View models</ButtonLink>,
      }}
      aside={
        <span class="row">
          <PublicSwitch place={place} />
          {isFirst ? <LiveState view={view} /> : null}
        </span>
      }
      words="Private receipts show only their minute, model and outcome, never the account."
    />
  )
}

const lastPlaceOf = (line: Line): number | undefined =>
  line.is === 'public' ? line.seen.place : line.runs.at(-1)?.place

type RowView = Pick<ListView, 'now' | 'heads'> & { seen: Pick<SeenPage, 'stageOf'> }
type LineProps = { view: RowView; line: Line; fresh?: boolean }

function LineRow({ view, line, fresh }: LineProps) {
  const columns = columnsAt(view)
  if (line.is === 'public') {
    return <TableRow columns={columns} row={line.seen} {...(fresh ? { fresh } : {})} />
  }
  const { runs } = line
  const [newest] = runs
  if (!newest) return null
  return (
    <WideRow columns={columns.length} fresh={fresh} fold={String(runs.length)}>
      <details class="fold">
        <summary>
          <span>
            {foldWords(
              runs.length,
              runs.map(({ model }) => model ?? ''),
            )}
          </span>
          <When at={newest.minute} now={view.now} isMinute />
        </summary>
        <ul class="bare">
          {runs.map((run) => (
            <li data-model={run.model ?? ''}>
              <data value={String(run.index)}>{run.index.toLocaleString('en-US')}</data>
              <span>{run.model}</span>
              <span>{run.outcome}</span>
              <StageOf seen={run} view={view} />
              <When at={run.minute} now={view.now} isMinute />
            </li>
          ))}
        </ul>
      </details>
    </WideRow>
  )
}

/** One row for a list that is open in a browser, which folds private ones itself. */
export const rowOf = (view: RowView, seen: SeenReceipt): string => {
  const line: Line = seen.shown ? { is: 'public', seen } : { is: 'private', runs: [seen] }
  return renderChild(<LineRow view={view} line={line} fresh />)
}

const LiveState = ({ view: { seen, place } }: { view: ListView }) => {
  const [newest] = seen.items
  const at = newest?.is === 'private' ? newest.runs[0]?.place : newest?.seen.place
  return <LiveList stream={streamOf(place, at ?? -1)} most={rowsMax} href={hrefOf(place)} />
}

type SeenColumn = Column<SeenReceipt>

const columnsAt = (view: RowView): SeenColumn[] => [
  {
    head: 'Figure',
    kind: 'unnamed',
    at: 'mark',
    cell: ({ shown }) => (shown ? <RosetteMark hash={shown.digest} /> : null),
  },
  { head: 'Index', kind: 'optional-number', cell: ({ index }) => index.toLocaleString('en-US') },
  { head: 'Receipt', at: 'what', cell: (seen) => <Receipt of={seen} /> },
  { head: 'By', kind: 'optional', cell: (seen) => <By of={seen} /> },
  { head: 'Model', kind: 'optional', cell: ({ model }) => model ?? <Hidden /> },
  { head: 'Outcome', kind: 'spare', cell: ({ outcome }) => outcome ?? <Hidden /> },
  { head: 'Tokens', kind: 'optional-number', cell: (seen) => <Tokens of={seen} /> },
  { head: 'Cost', kind: 'optional-number', at: 'cost', cell: (seen) => <Cost of={seen} /> },
  { head: 'State', at: 'state', cell: (seen) => <StageOf seen={seen} view={view} /> },
  {
    head: 'When',
    kind: 'optional',
    at: 'when',
    cell: ({ shown }) => <When at={Number(shown?.receipt.issuedAt)} now={view.now} />,
  },
]

type ReceiptProps = { of: SeenReceipt }

/** On a phone it also shows what the hidden columns show. */
const Receipt = ({ of: { shown, model, outcome } }: ReceiptProps) =>
  shown ? (
    <>
      <IdLink value={shown.receipt.id} href={`/receipts/${shown.receipt.id}`} />
      <small class="quiet alt">{model === null ? 'Hidden' : `${model}, ${outcome}`}</small>
    </>
  ) : null

function By({ of: { shown } }: ReceiptProps) {
  if (!shown) return <Dash />
  const { passport } = shown.receipt
  if (isHidden(passport)) return <Hidden />
  if (passport.handle === '') return <Dash />
  return <a href={`/passports/${passport.handle}`}>@{passport.handle}</a>
}

function Tokens({ of: { shown } }: ReceiptProps) {
  if (!shown) return <Dash />
  const { charge } = shown.receipt
  if (isHidden(charge)) return <Hidden />
  const lines = charge.lines.map((line) => ({ ...line, quantity: Number(line.quantity) }))
  const tokens = inputUnitsOf(lines) + outputUnitsOf(lines)
  return <data value={String(tokens)}>{tokens.toLocaleString('en-US')}</data>
}

function Cost({ of: { shown } }: ReceiptProps) {
  if (!shown) return <Dash />
  const { charge } = shown.receipt
  return isHidden(charge) ? <Hidden /> : <Amount nusd={BigInt(charge.amount)} as="list" />
}

const Hidden = () => <span class="quiet">Hidden</span>

const Dash = () => <span class="quiet">–</span>
