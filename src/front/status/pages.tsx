/** `GET /status`: how the service is, its log, its witnesses and its anchors, for people. */
import { Elysia } from 'elysia'
import { readerAccount } from '../../access/accounts/needs-session.ts'
import type { Deps } from '../../app/deps-port.ts'
import { durationText } from '../../kernel/moment.ts'
import { type AnchorsList, anchorsOf } from '../../proof/anchors/api.ts'
import { prefixOf } from '../../proof/log/logs.ts'
import { Address } from '../../web/ui/address.tsx'
import type { Frame } from '../../web/ui/frame.ts'
import { Hash } from '../../web/ui/hash.tsx'
import { publicPage } from '../../web/ui/layout.tsx'
import { Facts, Pad, PageHead, Panel } from '../../web/ui/panel.tsx'
import { reply } from '../../web/ui/reply.ts'
import { Badge, type Tone } from '../../web/ui/status.tsx'
import { type Column, Table } from '../../web/ui/table.tsx'
import { When } from '../../web/ui/when.tsx'
import { statusOf } from './api.ts'
import { type Part, partsOf } from './parts.ts'
import type { StatusAnswer } from './shapes.ts'

export const statusPath = '/status'

/** Anchors shown; the explorer and `/v1/anchors` have all. */
const anchorsShown = '10'

export const statusPages = (deps: Deps, frame: Frame) =>
  new Elysia({ name: 'status-pages' }).get(statusPath, async ({ request, set }) => {
    const status = await statusOf(deps)
    const isUp = status.database.status !== 'down'
    const query = new URLSearchParams({ limit: anchorsShown })
    const view: View = {
      status,
      anchors: isUp ? await anchorsOf(deps, query) : undefined,
      origin: deps.logs.current.origin,
      signer: deps.signer.address,
      now: deps.clock.now(),
    }
    const page = publicPage({
      frame,
      title: 'Status',
      description: 'How this service is: its models, ledger, log, witnesses and anchors.',
      here: '',
      main: <StatusPage view={view} />,
      ...(isUp ? await readerAccount(deps, request) : {}),
    })
    return reply({ request, set }, { page })
  })

type View = {
  status: StatusAnswer
  /** Undefined while the database does not answer. */
  anchors: AnchorsList | undefined
  origin: string
  signer: string
  now: number
}

const StatusPage = ({ view }: { view: View }) => (
  <>
    <PageHead title="Status">
      <p class="quiet">
        For programs: <a href="/v1/status">/v1/status</a>
      </p>
    </PageHead>
    <Panel id="parts" title="The service" aside={<Overall of={view.status} />}>
      <Table caption="Parts of the service" columns={partColumns} rows={partsOf(view.status)} />
    </Panel>
    <div class="split">
      <AnchorsPanel view={view} />
      <LogPanel view={view} />
    </div>
    <WitnessesPanel view={view} />
  </>
)

const Overall = ({ of: { status } }: { of: StatusAnswer }) =>
  status === 'ok' ? (
    <Badge tone="ok">All systems normal</Badge>
  ) : (
    <Badge tone="bad">Needs attention</Badge>
  )

const partColumns: Column<Part>[] = [
  { head: 'Part', cell: ({ part }) => <strong>{part}</strong> },
  { head: 'State', at: 'act', cell: ({ tone, state }) => <Badge tone={tone}>{state}</Badge> },
  { head: 'What it means', at: 'state', cell: ({ meaning }) => meaning },
]

function LogPanel({ view: { status, anchors, origin, signer } }: { view: View }) {
  const { size, anchored_size: anchored, oldest_unanchored_s: waits } = status.log
  const checkpoint = anchors?.log.checkpoint
  return (
    <Panel
      id="log"
      title="Log"
      foot={
        <>
          <a href={`${prefixOf(origin)}/checkpoint`}>Checkpoint</a>
          <a href="/explorer">Search the log</a>
        </>
      }
    >
      <Pad>
        <p>Every receipt is a leaf. A leaf that is there can be neither changed nor removed.</p>
        <Facts
          of={[
            ['Origin', <code>{origin}</code>],
            ['Leaves', countText(size)],
            ['Anchored', countText(anchored)],
            ['Oldest waiting', waits === null ? 'None' : durationText(waits * 1000)],
            ['Root', checkpoint ? <Hash value={checkpoint.root} /> : 'With the first receipt'],
            ['Signer', <Address value={signer} />],
          ]}
        />
      </Pad>
    </Panel>
  )
}

const countText = (count: number | null): string =>
  count === null ? 'Unknown' : count.toLocaleString('en-US')

type Anchor = AnchorsList['data'][number]

function AnchorsPanel({ view: { status, anchors, now } }: { view: View }) {
  const rows = anchors?.data ?? []
  return (
    <Panel
      id="anchors"
      title="Newest anchors"
      foot={
        anchors?.registry ? (
          <span>
            Registry <Address value={anchors.registry} /> on chain {status.chain.id}
          </span>
        ) : null
      }
    >
      {rows.length === 0 ? (
        <Pad>
          <p>
            {status.anchors.status === 'disabled'
              ? 'This service does not anchor its log on a chain. Receipts are signed and logged.'
              : 'No anchor yet: the first follows the first receipts.'}
          </p>
        </Pad>
      ) : (
        <Table caption="Newest anchors" columns={anchorColumns(now)} rows={rows} />
      )}
    </Panel>
  )
}

const anchorTones: Readonly<Record<Anchor['status'], readonly [Tone, string]>> = {
  pending: ['wait', 'Pending'],
  submitted: ['wait', 'Sent'],
  confirmed: ['ok', 'Confirmed'],
  final: ['ok', 'Final'],
  superseded: ['wait', 'Superseded'],
  failed: ['bad', 'Failed'],
}

const anchorColumns = (now: number): Column<Anchor>[] => [
  {
    head: 'Root',
    at: 'what',
    cell: ({ root, explorer_url: url }) =>
      url ? (
        <a href={url} rel="noreferrer">
          <Hash value={root} />
        </a>
      ) : (
        <Hash value={root} />
      ),
  },
  { head: 'Leaves', kind: 'number', at: 'more', cell: ({ size }) => countText(size) },
  {
    head: 'Block',
    kind: 'optional-number',
    cell: ({ block_number: block }) => (block === null ? '–' : countText(block)),
  },
  {
    head: 'State',
    at: 'state',
    cell: ({ status }) => <Badge tone={anchorTones[status][0]}>{anchorTones[status][1]}</Badge>,
  },
  {
    head: 'When',
    at: 'when',
    cell: ({ created_at: at }) => <When at={Date.parse(at)} now={now} />,
  },
]

type Witness = StatusAnswer['witnesses']['data'][number]

const WitnessesPanel = ({ view: { status, now } }: { view: View }) => (
  <Panel
    id="witnesses"
    title="Witnesses"
    aside={
      status.witnesses.data.length === 0 ? null : (
        <small class="quiet">
          {status.witnesses.required} of {status.witnesses.data.length} must sign each head
        </small>
      )
    }
  >
    {status.witnesses.data.length === 0 ? (
      <Pad>
        <p>
          No witness signs beside this service. Its heads are its own word until an anchor carries
          them to the chain.
        </p>
      </Pad>
    ) : (
      <Table caption="Witnesses" columns={witnessColumns(now)} rows={status.witnesses.data} />
    )}
  </Panel>
)

const witnessColumns = (now: number): Column<Witness>[] => [
  { head: 'Witness', cell: ({ name }) => <strong>{name}</strong> },
  { head: 'Key', kind: 'optional', cell: ({ key }) => <code class="raw">{key}</code> },
  { head: 'Signed up to', kind: 'number', at: 'more', cell: ({ size }) => leavesText(size) },
  {
    head: 'State',
    at: 'state',
    cell: ({ trouble, size }) => {
      if (trouble) return <Badge tone="warn">{trouble.replaceAll('_', ' ')}</Badge>
      return size === null ? <Badge tone="wait">Not yet</Badge> : <Badge tone="ok">Signs</Badge>
    },
  },
  {
    head: 'When',
    at: 'when',
    cell: ({ seen_at: at }) =>
      at === null || at === undefined ? 'Never' : <When at={Date.parse(at)} now={now} />,
  },
]

const leavesText = (size: number | null): string =>
  size === null ? 'None' : `${size.toLocaleString('en-US')} leaves`
