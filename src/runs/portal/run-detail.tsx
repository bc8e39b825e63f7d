/** The page of one run, from its hold to its receipt. */
import type { Nusd } from '../../kernel/money.ts'
import { receiptIdOf } from '../../proof/receipts/receipt.ts'
import type { StoredLine } from '../../storage/db/schema/schema-money.ts'
import { isCall, meterWords } from '../../verify/meter-words.ts'
import { Amount, amountText } from '../../web/ui/amount.tsx'
import { Button, ButtonLink } from '../../web/ui/button.tsx'
import { ActionForm } from '../../web/ui/form.tsx'
import { Id, IdLink } from '../../web/ui/hash.tsx'
import type { Child } from '../../web/ui/jsx-runtime.ts'
import { ErrorNote } from '../../web/ui/notice.tsx'
import { Facts, Pad, PageHead, Panel, Split } from '../../web/ui/panel.tsx'
import { Live } from '../../web/ui/status.tsx'
import { type Column, Table } from '../../web/ui/table.tsx'
import { ExactTime } from '../../web/ui/when.tsx'
import type { ReceiptStateOf } from '../receipt-state.ts'
import { isInFlight, type ShownRun } from '../shown-run.ts'
import { SmallSlip } from './run-aside.tsx'
import { ConversationPanel, type KeptTexts } from './run-conversation.tsx'
import { RunState, receiptPath } from './run-state.tsx'
import { Held, TimelinePanel } from './run-timeline.tsx'

/** The pages beside this one, in the order of the list; undefined at its ends. */
export type Neighbours = { newer?: string | undefined; older?: string | undefined }

type RunProps = {
  shown: ShownRun
  receiptStateOf: ReceiptStateOf
  /** Identifies the state that the page shows, and the list that led here. */
  liveQuery: URLSearchParams
  kept: KeptTexts
  /** The runs before and after it in the list that led here. */
  near: Neighbours
  /** Why the last action on the run failed. */
  trouble?: string | undefined
}

export const RunPage = (props: RunProps) => (
  <div class="stack" id="run">
    <PageHead title="Run">
      <div class="row">
        <code class="quiet">{props.shown.run.id}</code>
        <RunState run={props.shown.run} receiptStateOf={props.receiptStateOf} />
        <Ways {...props} />
      </div>
    </PageHead>
    {props.trouble ? <ErrorNote what={props.trouble} /> : null}
    {isInFlight(props.shown.run) ? <InFlight {...props} /> : <Failure run={props.shown.run} />}
    {isMoving(props) && !isInFlight(props.shown.run) ? <Follow {...props} /> : null}
    <Split>
      <div class="stack">
        <TimelinePanel run={props.shown.run} />
        <Charge run={props.shown.run} />
        {isInFlight(props.shown.run) ? null : (
          <ConversationPanel run={props.shown.run} kept={props.kept} />
        )}
      </div>
      <div class="stack">
        <SmallSlip run={props.shown.run} />
        <About {...props} />
      </div>
    </Split>
  </div>
)

/** The ways on: along the list, and to the console with the same question. */
const Ways = ({ near: { newer, older }, shown: { run } }: RunProps) => (
  <>
    {newer ? (
      <ButtonLink small href={newer}>
        Newer
      </ButtonLink>
    ) : null}
    {older ? (
      <ButtonLink small href={older}>
        Older
      </ButtonLink>
    ) : null}
    {run.kind === 'chat' ? (
      <ButtonLink small icon="console" href={`/dashboard/console?run=${run.id}`}>
        Open in console
      </ButtonLink>
    ) : null}
  </>
)

/** Whether the page still changes by itself: until the receipt is final. */
const isMoving = ({ shown: { run }, receiptStateOf }: RunProps): boolean =>
  isInFlight(run) || receiptStateOf(run) !== 'final'

/** The stream that announces the next state. */
const Follow = ({ shown: { run }, liveQuery, children }: RunProps & { children?: Child }) => (
  <span
    hx-sse:connect={`/api/portal/runs/${run.id}/live?${liveQuery}`}
    hx-target="#run"
    hx-swap="outerHTML"
  >
    {children}
  </span>
)

/** The cancel button of a run in flight, and the stream that announces its end. */
const InFlight = (props: RunProps) => (
  <Panel
    id="in-flight"
    title="In flight"
    aside={
      <Follow {...props}>
        <Live />
      </Follow>
    }
  >
    <Pad>
      <p>
        Cancelling stops the model at once. Output delivered until then is charged, at most{' '}
        <Amount nusd={props.shown.run.hold} />; the rest of the hold is released.
      </p>
      <ActionForm action={`/api/portal/runs/${props.shown.run.id}/cancel`} target="#run">
        <Button look="bad">Cancel this run</Button>
        <span class="htmx-indicator quiet">Cancelling…</span>
      </ActionForm>
    </Pad>
  </Panel>
)

function Failure({ run }: { run: ShownRun['run'] }) {
  if (run.status === 'succeeded') return null
  return <ErrorNote what={run.error?.message ?? endings[run.status]} charged={chargedText(run)} />
}

const endings: Partial<Record<ShownRun['run']['status'], string>> = {
  cancelled: 'The run was stopped before it ended.',
  interrupted: 'The server stopped while the run was in flight.',
  failed: 'The run did not finish.',
}

function chargedText({ cost, hold, error }: ShownRun['run']): string {
  if (cost === 0n) {
    const said = error?.message ?? ''
    if (said.includes('Nothing was charged'))
      return hold === 0n ? '' : 'The whole hold is released.'
    // A free model: its output was charged at a price of nothing.
    return said.includes('was charged') ? 'That came to $0.00.' : 'Nothing was charged.'
  }
  const [charged, rest] = [amountText(cost), amountText(hold - cost)]
  return `You were charged ${charged}; ${rest} of the hold is released.`
}

function Charge({ run }: { run: ShownRun['run'] }) {
  const list = run.lines.reduce((sum, line) => sum + exact(line), 0n)
  const discount = run.discountBps === 0 ? null : `${run.discountBps / 100}%`
  return (
    <Panel
      id="cost"
      title="Cost"
      aside={
        isInFlight(run) ? null : (
          <strong>
            <Amount nusd={run.cost} />
          </strong>
        )
      }
      foot={
        <>
          <Held run={run} />
          {discount ? (
            <span>{`A ${discount} discount is applied to ${exactText(list)}.`}</span>
          ) : null}
          {run.clamped ? <span>The model server reported more usage than is possible.</span> : null}
        </>
      }
    >
      {run.lines.length === 0 ? (
        <Pad>
          <p class="quiet">{isInFlight(run) ? 'Counted when the run ends.' : 'No usage.'}</p>
        </Pad>
      ) : (
        <Table caption="Meter lines" columns={lineColumns(run.lines)} rows={run.lines} />
      )}
    </Panel>
  )
}

/** The columns of its lines; on a phone quantity and price stand below their meter. */
const lineColumns = (lines: readonly StoredLine[]): Column<StoredLine>[] => [
  {
    head: 'Meter',
    cell: (line) => (
      <span class="name">
        {meterWords(line.meter)}
        <small class="quiet alt">
          {line.quantity.toLocaleString('en-US')} × {priceText(line)}
        </small>
      </span>
    ),
  },
  {
    head: 'Quantity',
    kind: 'optional-number',
    cell: ({ quantity }) => quantity.toLocaleString('en-US'),
  },
  { head: '× Price', kind: 'optional-number', cell: priceText },
  {
    head: 'Amount',
    kind: 'number',
    at: 'cost',
    cell: (line) => exactText(exact(line), placesOf(lines)),
  },
]

/** So many decimals that the points of all amounts stand under each other. */
const placesOf = (lines: readonly StoredLine[]): number =>
  Math.max(...lines.map((line) => exactText(exact(line)).split('.')[1]?.length ?? 0))

function priceText({ meter, price }: StoredLine): string {
  if (isCall(meter)) return `${exactText(BigInt(price))} each`
  return `${amountText(BigInt(price) * 1000n)} per 1M`
}

/** The price of a line in pico-USD: it can be finer than the nano-USD that are charged. */
const exact = ({ quantity, price }: StoredLine): bigint => BigInt(quantity) * BigInt(price)

function exactText(pusd: bigint, places = 2): string {
  const whole: Nusd = pusd / 1000n
  const [dollars = '0', fraction = ''] = amountText(whole).split('.')
  const digits = fraction.padEnd(9, '0') + String(pusd % 1000n).padStart(3, '0')
  return `${dollars}.${digits.replace(/0+$/, '').padEnd(places, '0')}`
}

const About = ({ shown: { run, keyName } }: RunProps) => (
  <Panel id="about" title="Details">
    <Pad>
      <Facts of={[...madeBy(run, keyName), ...times(run), ...sources(run)]} />
    </Pad>
  </Panel>
)

type Fact = readonly [name: Child, value: Child]

const madeBy = (run: ShownRun['run'], keyName: string): Fact[] => [
  ['Model', <a href={`/models#${encodeURIComponent(run.model)}`}>{run.model}</a>],
  ['Kind', run.kind === 'chat' ? 'Chat' : 'Embedding'],
  ...(run.route === '' ? [] : [['Route', <code>{run.route}</code>] as Fact]),
  [
    'Key',
    <>
      <a href={`/dashboard/keys/${run.keyId}`}>{keyName}</a> <Id value={run.keyId} />
    </>,
  ],
  ['Tags', tagList(run.tags)],
]

const times = (run: ShownRun['run']): Fact[] => [
  ['Started', <ExactTime at={run.createdAt} />],
  ...(run.finishedAt === null ? [] : [['Ended', <ExactTime at={run.finishedAt} />] as Fact]),
]

function sources(run: ShownRun['run']): Fact[] {
  if (run.finishedAt === null) return [['Background', run.background ? 'Yes' : 'No']]
  return [
    ['Usage', usageText(run)],
    ['Prices', <code>{run.priceList}</code>],
    ['Receipt', <IdLink value={receiptIdOf(run.id)} href={receiptPath(run.id)} />],
  ]
}

function usageText({ usageSource, lines, clamped }: ShownRun['run']): string {
  if (usageSource === null || lines.length === 0) return '–'
  return clamped && usageSource === 'reported' ? lowered : usageSources[usageSource]
}

const lowered = 'Reported by the model server, lowered to the most that is possible'
const usageSources = {
  reported: 'Reported by the model server, within the possible range',
  counted: 'Counted by this server',
  embedded: 'Counted by the model itself',
}

function tagList(tags: Record<string, string>): Child {
  const all = Object.entries(tags)
  if (all.length === 0) return 'None'
  return all.map(([name, value], i) => (
    <>
      {i > 0 ? ', ' : ''}
      <code>
        {name}: {value}
      </code>
    </>
  ))
}
