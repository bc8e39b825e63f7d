/** Parts that all pages of keys share: paths, state badges, cap meters, table columns. */
import type { Millis } from '../../../kernel/clock.ts'
import type { Nusd } from '../../../kernel/money.ts'
import type { Refusal } from '../../../kernel/refusal.ts'
import { type CapWindow, capWindows } from '../../../ledger/window.ts'
import type { KeyRow } from '../../../storage/db/schema/schema.ts'
import type { Draft } from '../../../web/http/fields.ts'
import { Hash } from '../../../web/ui/hash.tsx'
import { Meter } from '../../../web/ui/meter.tsx'
import { SideLink } from '../../../web/ui/side-panel.tsx'
import { Badge } from '../../../web/ui/status.tsx'
import type { Column } from '../../../web/ui/table.tsx'
import { DayOf, When } from '../../../web/ui/when.tsx'
import { dayMs, depthOf, statusOf } from '../key.ts'
import type { KeyDetail } from '../key-detail.ts'
import type { ShownKey } from '../shown-key.ts'
import { stateWords } from './key-query.ts'

export const keysPath = '/dashboard/keys'
export const newKeyPath = `${keysPath}/new`
export const keyPath = (id: string): string => `${keysPath}/${id}`
export const actionPath = (id: string, action: string): string => `/api/portal/keys/${id}/${action}`

/** "of $5.00 a day" */
export const windowWords: Readonly<Record<CapWindow, string>> = {
  lifetime: '',
  day: 'a day',
  week: 'a week',
  month: 'a month',
}

export const windowOptions = capWindows.map((value) => ({
  value,
  label: value === 'lifetime' ? 'Never' : `Every ${value}`,
}))

/** The view of the page of one key. */
export type DetailView = KeyDetail & {
  /** The edit form as sent, and why it was refused. */
  draft?: Draft | undefined
  refusal?: Refusal | undefined
  /** The form was sent a second time: there is no second secret to show. */
  isAgain?: boolean | undefined
}

type KeyStateProps = { shown: ShownKey; now: Millis }

/** The state, whether a key above causes it, and an expiry within a week. */
export function StateBadge({ shown, now }: KeyStateProps) {
  const { key, chain } = shown
  const status = statusOf(chain, now)
  const isOwn = statusOf([key], now) === status
  const words = isOwn ? stateWords[status] : `${stateWords[status]} above`
  if (status === 'revoked') return <Badge tone="bad">{words}</Badge>
  if (status === 'expired') return <Badge>{words}</Badge>
  if (status === 'paused') {
    // The reason stands on the page of the key; a list needs the state alone.
    return <Badge tone={key.pausedReason === 'leak' ? 'bad' : 'warn'}>{words}</Badge>
  }
  const end = endOf(chain)
  if (end - now > 7 * dayMs) {
    return isNearlySpent(shown) ? (
      <Badge tone="warn">Nearly spent</Badge>
    ) : (
      <Badge tone="ok">{words}</Badge>
    )
  }
  return (
    <Badge tone="warn">
      Expires <When at={end} now={now} />
    </Badge>
  )
}

/** The first expiry of a chain: no key outlives those above it. */
export const endOf = (chain: ShownKey['chain']): Millis =>
  Math.min(...chain.map((key) => key.expiresAt))

/** The spending of its current window, and the holds of runs in flight. */
export const usedOf = ({ window }: ShownKey): Nusd => (window?.spent ?? 0n) + (window?.held ?? 0n)

/** Whether less than a tenth of its cap is left. */
export const isNearlySpent = (shown: ShownKey): boolean =>
  usedOf(shown) * 10n > shown.key.capLimit * 9n

/** Keys in their order, but in each branch those first of whose caps the least is left. */
export function nearlySpentFirst(keys: readonly ShownKey[]): ShownKey[] {
  const known = new Set(keys.map(({ key }) => key.id))
  const below = Map.groupBy(keys, ({ key: { parentId } }) =>
    parentId !== null && known.has(parentId) ? parentId : '',
  )
  const branch = (id: string): ShownKey[] =>
    (below.get(id) ?? [])
      .toSorted((a, b) => perMilleOf(b) - perMilleOf(a))
      .flatMap((one) => [one, ...branch(one.key.id)])
  return branch('')
}

const perMilleOf = (shown: ShownKey): number =>
  shown.key.capLimit === 0n ? 1000 : Number((usedOf(shown) * 1000n) / shown.key.capLimit)

export const CapMeter = ({ shown }: { shown: ShownKey }) => (
  <Meter used={usedOf(shown)} limit={shown.key.capLimit} of={windowWords[shown.key.capWindow]} />
)

/** `tree` indents keys below their parent; `list` names the parent. */
export const keyColumns = (now: Millis, look: 'tree' | 'list'): Column<ShownKey>[] => [
  { head: 'Key', cell: (shown) => <KeyCell shown={shown} look={look} /> },
  { head: 'State', at: 'state', cell: (shown) => <StateBadge shown={shown} now={now} /> },
  { head: 'Spent of cap', at: 'cost', cell: (shown) => <CapMeter shown={shown} /> },
  {
    head: 'Last used',
    kind: 'optional',
    at: 'when',
    cell: ({ key }) =>
      key.lastUsedAt === null ? (
        <span class="quiet hex">Never used</span>
      ) : (
        <When at={key.lastUsedAt} now={now} />
      ),
  },
  {
    head: 'Expires',
    kind: 'spare',
    cell: ({ key }) => <DayOf at={key.expiresAt} />,
  },
  {
    head: 'Action',
    kind: 'unnamed',
    at: 'act',
    cell: ({ key }) => <RowActions of={key} />,
  },
]

const RowActions = ({ of: { id, name, revokedAt } }: { of: KeyRow }) => {
  const hidden = <span class="vh"> {name}</span>
  return (
    <div class="row tight">
      {revokedAt === null ? (
        <>
          <SideLink href={`${keyPath(id)}/rotate`} small look="plain" folds>
            Rotate…{hidden}
          </SideLink>
          <SideLink href={`${keyPath(id)}/revoke`} small look="plain" folds>
            Revoke…{hidden}
          </SideLink>
        </>
      ) : null}
    </div>
  )
}

function KeyCell({ shown: { key, chain }, look }: { shown: ShownKey; look: 'tree' | 'list' }) {
  const depth = look === 'tree' ? depthOf(key) : 0
  const parent = look === 'list' ? chain[1] : undefined
  return (
    <div class={depth > 0 ? ['kid', `d${depth}`] : undefined}>
      <a class="to name what" dir="auto" href={keyPath(key.id)} title={key.name}>
        {key.name}
      </a>
      <small class="quiet">
        <Hash value={key.fingerprint} />
        {parent ? ` under ${parent.name}` : null}
      </small>
    </div>
  )
}
