/** The keys panel of the overview. */
import { depthOf, statusOf } from '../../../access/keys/key.ts'
import { isNearlySpent, windowWords } from '../../../access/keys/portal/key-state.tsx'
import type { ShownKey } from '../../../access/keys/shown-key.ts'
import { ButtonLink } from '../../../web/ui/button.tsx'
import { Empty } from '../../../web/ui/empty.tsx'
import { Meter } from '../../../web/ui/meter.tsx'
import { Panel } from '../../../web/ui/panel.tsx'
import { Badge } from '../../../web/ui/status.tsx'
import { type Column, Table } from '../../../web/ui/table.tsx'
import { When } from '../../../web/ui/when.tsx'
import { expiresSoonMs } from '../alerts.ts'

/** Number of keys shown; the keys page lists all. */
const shownMax = 6

type KeysProps = { account: string; keys: readonly ShownKey[]; now: number }

export const KeysSummary = ({ account, keys, now }: KeysProps) => (
  <Panel
    id="keys"
    title="Keys"
    aside={keys.length === 0 ? null : <a href="/dashboard/keys">All {keys.length}</a>}
  >
    {keys.length === 0 ? (
      <Empty
        hash={account}
        title="No keys yet"
        action={
          <ButtonLink look="go" icon="plus" href="/dashboard/keys/new">
            Create a key
          </ButtonLink>
        }
      >
        Give each agent its own key, with a cap and an expiry date that you set.
      </Empty>
    ) : (
      <Table caption="Keys" columns={columnsAt(now)} rows={keys.slice(0, shownMax)} fold="late" />
    )}
  </Panel>
)

const columnsAt = (now: number): Column<ShownKey>[] => [
  {
    head: 'Key',
    cell: ({ key }) => (
      <div class={depthOf(key) > 0 ? ['kid', `d${depthOf(key)}`] : undefined}>
        <a class="to name what" dir="auto" href={`/dashboard/keys/${key.id}`}>
          {key.name}
        </a>
      </div>
    ),
  },
  { head: 'State', at: 'state', cell: (shown) => <KeyState shown={shown} now={now} /> },
  {
    head: 'Spent of cap',
    at: 'cost',
    cell: ({ key, window }) => (
      <Meter used={window?.spent ?? 0n} limit={key.capLimit} of={windowWords[key.capWindow]} />
    ),
  },
  {
    head: 'Last used',
    kind: 'optional',
    at: 'when',
    cell: ({ key }) =>
      key.lastUsedAt === null ? 'Never used' : <When at={key.lastUsedAt} now={now} />,
  },
  { head: 'Expires', kind: 'spare', cell: ({ key }) => <When at={key.expiresAt} now={now} /> },
]

function KeyState({ shown, now }: { shown: ShownKey; now: number }) {
  const { key, chain } = shown
  const status = statusOf(chain, now)
  if (status === 'revoked') return <Badge tone="bad">Revoked</Badge>
  if (status === 'expired') return <Badge tone="bad">Expired</Badge>
  if (status === 'paused') return <Badge tone="warn">Paused</Badge>
  if (key.expiresAt - now > expiresSoonMs) {
    if (isNearlySpent(shown)) return <Badge tone="warn">Nearly spent</Badge>
    return <Badge tone="ok">Usable</Badge>
  }
  return (
    <Badge tone="warn">
      Expires <When at={key.expiresAt} now={now} />
    </Badge>
  )
}
