/** The operator's view of anchoring: reach, sender and anchors. */
import type { Millis } from '../../../kernel/clock.ts'
import { toHex } from '../../../kernel/hex.ts'
import type { Page } from '../../../kernel/pagination.ts'
import type { AnchorStatus } from '../../../proof/anchors/anchor-status.ts'
import type { AnchorRow } from '../../../storage/db/schema/schema.ts'
import { Address } from '../../../web/ui/address.tsx'
import { Button } from '../../../web/ui/button.tsx'
import { ActionForm } from '../../../web/ui/form.tsx'
import { Hash } from '../../../web/ui/hash.tsx'
import { List, nextOf } from '../../../web/ui/paged-list.tsx'
import { Facts, Pad, Panel } from '../../../web/ui/panel.tsx'
import { Badge, type Tone } from '../../../web/ui/status.tsx'
import type { Column } from '../../../web/ui/table.tsx'
import { durationText, When } from '../../../web/ui/when.tsx'
import { paths } from './admin-frame.tsx'

export type AnchorsView = {
  found: Page<AnchorRow>
  now: Millis
  isFirst: boolean
  /** Leaves of the log. */
  size: number
  status: AnchorStatus
  isOn: boolean
  origin: string
}

export const AnchorPanels = ({ view }: { view: AnchorsView }) => (
  <div id="anchors" class="stack">
    <Reach view={view} />
    <Anchors view={view} />
  </div>
)

function Reach({ view: { size, status, isOn, origin } }: { view: AnchorsView }) {
  const { log, anchors } = status
  const { sender } = anchors
  const waits = log.oldest_unanchored_s
  return (
    <Panel
      id="reach"
      title="Anchoring"
      aside={
        <Badge tone={isOn ? (status.isDegraded ? 'bad' : 'ok') : 'wait'}>
          {anchors.status === 'ok' ? 'On time' : capitalized(anchors.status)}
        </Badge>
      }
    >
      <Pad>
        <Facts
          of={[
            ['Log', <code class="wrap">{origin}</code>],
            ['Leaves', size.toLocaleString('en-US')],
            ['Anchored', log.anchored_size.toLocaleString('en-US')],
            [
              'Oldest unanchored leaf',
              waits === null ? 'None' : `${durationText(waits * 1000)} old`,
            ],
            ['Sender', sender?.address ? <Address value={sender.address} /> : 'None'],
            ['Sender balance', sender ? balanceText(sender.balance_wei) : 'Unknown'],
          ]}
        />
        {isOn ? (
          <ActionForm action="/api/portal/admin/anchors/now" target="#anchors">
            <Button>Anchor now</Button>
          </ActionForm>
        ) : (
          <p>
            Anchoring is off. Set <code>[chain] rpc_urls</code> and{' '}
            <code>[anchors] sender_key_file</code>, then run <code>counterfoil anchor deploy</code>.
          </p>
        )}
      </Pad>
    </Panel>
  )
}

/** Wei as ETH, with six decimals. */
function balanceText(wei: string | null): string {
  if (wei === null) return 'Unknown'
  const micros = BigInt(wei) / 10n ** 12n
  return `${micros / 1_000_000n}.${String(micros % 1_000_000n).padStart(6, '0')} ETH`
}

const Anchors = ({ view: { found, now, isFirst, origin } }: { view: AnchorsView }) => (
  <List
    id="heads"
    title="All anchors"
    noun="anchors"
    items={found.items}
    columns={columnsFor(now, found.items)}
    href={paths.anchors}
    next={nextOf(found)}
    isFirst={isFirst}
    hash={hashOf(origin)}
    empty={{ title: 'No anchors yet', text: 'The first anchor follows the first receipts.' }}
  />
)

/** A different figure for each log. */
const hashOf = (origin: string): string => toHex(new TextEncoder().encode(origin))

const tones: Readonly<Record<AnchorRow['status'], Tone>> = {
  pending: 'wait',
  submitted: 'wait',
  confirmed: 'ok',
  final: 'ok',
  superseded: 'warn',
  failed: 'bad',
}

const columnsFor = (now: Millis, rows: readonly AnchorRow[]): Column<AnchorRow>[] => [
  { head: 'Created', at: 'when', cell: ({ createdAt }) => <When at={createdAt} now={now} /> },
  {
    head: 'State',
    at: 'state',
    cell: ({ status }) => <Badge tone={tones[status]}>{capitalized(status)}</Badge>,
  },
  { head: 'Size', kind: 'number', cell: ({ size }) => size.toLocaleString('en-US') },
  { head: 'Root', kind: 'optional', cell: ({ root }) => <Hash value={toHex(root)} /> },
  {
    head: 'Block',
    kind: 'optional-number',
    cell: ({ blockNumber }) => blockNumber?.toLocaleString('en-US') ?? '–',
  },
  {
    head: 'Transaction',
    at: 'what',
    cell: ({ txHash }) => (txHash === null ? '–' : <Hash value={txHash} />),
  },
  ...(rows.some(({ error }) => error !== null) ? [errorColumn] : []),
]

const errorColumn: Column<AnchorRow> = {
  head: 'Error',
  kind: 'optional',
  cell: ({ error }) => error ?? '',
}

/** A state as other pages write it. */
const capitalized = (word: string): string => word.slice(0, 1).toUpperCase() + word.slice(1)
