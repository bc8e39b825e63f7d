/** The explorer's list of receipts. */
import { inputUnitsOf, outputUnitsOf } from '../../../models/meter.ts'
import { isHidden } from '../../../verify/receipt.ts'
import { Amount } from '../../../web/ui/amount.tsx'
import { Empty } from '../../../web/ui/empty.tsx'
import { IdLink } from '../../../web/ui/hash.tsx'
import { renderChild } from '../../../web/ui/jsx-runtime.ts'
import { LiveList } from '../../../web/ui/live-list.tsx'
import { Panel } from '../../../web/ui/panel.tsx'
import { RosetteMark } from '../../../web/ui/rosette.tsx'
import { StageBadge } from '../../../web/ui/stage.tsx'
import { type Column, Pager, Table, TableRow } from '../../../web/ui/table.tsx'
import { When } from '../../../web/ui/when.tsx'
import type { SeenPage } from '../overview.ts'
import type { SeenReceipt } from '../recent.ts'
import type { Window } from '../stats.ts'

export const explorerPath = '/explorer'

/** Receipts per page, and the largest length of the live list. */
export const rowsMax = 20

export type ListView = {
  now: number
  window: Window
  seen: SeenPage
  /** Whether this is the newest page. */
  isFirst: boolean
  /** The figure of an empty list, as hex. */
  hash: string
}

export function RecentPanel({ view }: { view: ListView }) {
  const { seen, isFirst, window } = view
  const last = seen.items.at(-1)
  const older = seen.hasMore && last ? hrefOf(window, last.place) : undefined
  return (
    <Panel
      id="recent"
      title={isFirst ? 'Recent receipts' : 'Older receipts'}
      aside={isFirst ? <LiveState view={view} /> : null}
      foot={
        seen.items.length === 0 && isFirst ? null : (
          <Pager older={older} newest={isFirst ? undefined : hrefOf(window)}>
            Private receipts show only their minute, model and outcome, never the account.
          </Pager>
        )
      }
    >
      {seen.items.length === 0 ? (
        <None view={view} />
      ) : (
        <Table caption="Receipts" columns={columnsAt(view)} rows={seen.items} bodyId="results" />
      )}
    </Panel>
  )
}

/** Rows alone, for a list that is open in a browser. */
export const rowsOf = (
  view: Pick<ListView, 'now' | 'seen'>,
  items: readonly SeenReceipt[],
): string => {
  const columns = columnsAt(view)
  return items.map((row) => renderChild(<TableRow columns={columns} row={row} fresh />)).join('')
}

/** The address of a page with its filters. */
export function hrefOf(window: Window, after?: number): string {
  const query = new URLSearchParams()
  if (window !== '24h') query.set('window', window)
  if (after !== undefined) query.set('after', String(after))
  return query.size === 0 ? explorerPath : `${explorerPath}?${query}`
}

const LiveState = ({ view: { seen, window } }: { view: ListView }) => (
  <LiveList
    stream={`${explorerPath}/stream?after=${seen.items[0]?.place ?? -1}&window=${window}`}
    most={rowsMax}
    href={hrefOf(window)}
  />
)

const None = ({ view: { isFirst, hash, window } }: { view: ListView }) =>
  isFirst ? (
    <Empty
      hash={hash}
      title="No receipts yet"
      action={
        <a class="btn" href="/models">
          View models
        </a>
      }
    >
      Every run that reaches a model leaves a receipt here, moments after it ends.
    </Empty>
  ) : (
    <Empty
      hash={hash}
      title="End of list"
      action={
        <a class="btn" href={hrefOf(window)}>
          Newest
        </a>
      }
    >
      The log has no older receipts.
    </Empty>
  )

type SeenColumn = Column<SeenReceipt>

const columnsAt = ({ now, seen: { stageOf } }: Pick<ListView, 'now' | 'seen'>): SeenColumn[] => [
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
  { head: 'Outcome', kind: 'optional', cell: ({ outcome }) => outcome ?? <Hidden /> },
  { head: 'Tokens', kind: 'optional-number', cell: (seen) => <Tokens of={seen} /> },
  { head: 'Cost', kind: 'optional-number', at: 'cost', cell: (seen) => <Cost of={seen} /> },
  { head: 'State', at: 'state', cell: (seen) => <StageBadge stage={stageOf(seen)} /> },
  { head: 'When', kind: 'optional', at: 'when', cell: (seen) => <At of={seen} now={now} /> },
]

type Of = { of: SeenReceipt }

/** On a phone it also shows what the hidden columns show. */
const Receipt = ({ of: { shown, model, outcome } }: Of) => (
  <>
    {shown ? (
      <IdLink value={shown.receipt.id} href={`/receipts/${shown.receipt.id}`} />
    ) : (
      <span class="quiet">Private</span>
    )}
    <small class="quiet alt">{model === null ? 'Hidden' : `${model}, ${outcome}`}</small>
  </>
)

function By({ of: { shown } }: Of) {
  if (!shown) return <Dash />
  const { passport } = shown.receipt
  if (isHidden(passport)) return <Hidden />
  if (passport.handle === '') return <Dash />
  return <a href={`/passports/${passport.handle}`}>@{passport.handle}</a>
}

function Tokens({ of: { shown } }: Of) {
  if (!shown) return <Dash />
  const { charge } = shown.receipt
  if (isHidden(charge)) return <Hidden />
  const lines = charge.lines.map((line) => ({ ...line, quantity: Number(line.quantity) }))
  const tokens = inputUnitsOf(lines) + outputUnitsOf(lines)
  return <data value={String(tokens)}>{tokens.toLocaleString('en-US')}</data>
}

function Cost({ of: { shown } }: Of) {
  if (!shown) return <Dash />
  const { charge } = shown.receipt
  return isHidden(charge) ? <Hidden /> : <Amount nusd={BigInt(charge.amount)} />
}

/** A private receipt shows only its minute. */
function At({ of: { shown, minute }, now }: Of & { now: number }) {
  if (shown) return <When at={Number(shown.receipt.issuedAt)} now={now} />
  return <When at={minute} now={now} isMinute />
}

const Hidden = () => <span class="quiet">Hidden</span>

const Dash = () => <span class="quiet">—</span>
