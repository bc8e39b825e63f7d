/** The operator's views of deposits. */

import {
  amountColumn,
  stateColumn,
  wordsFor,
} from '../../../billing/deposits/portal/deposit-history.tsx'
import type { Millis } from '../../../kernel/clock.ts'
import type { DepositRow } from '../../../storage/db/schema/schema.ts'
import { pathWith } from '../../../web/http/query.ts'
import { Address } from '../../../web/ui/address.tsx'
import { Amount } from '../../../web/ui/amount.tsx'
import { Button, ButtonLink } from '../../../web/ui/button.tsx'
import { ChoiceTabs } from '../../../web/ui/filters.tsx'
import { ActionForm } from '../../../web/ui/form.tsx'
import { Fields } from '../../../web/ui/form-panel.tsx'
import { Hash, Whole } from '../../../web/ui/hash.tsx'
import { List, nextOf } from '../../../web/ui/paged-list.tsx'
import { Facts, Panel } from '../../../web/ui/panel.tsx'
import type { Column } from '../../../web/ui/table.tsx'
import { When } from '../../../web/ui/when.tsx'
import { type DepositView, depositQuery, type FoundDeposits } from '../api/operator-lists.ts'
import { blank, reason } from './account.tsx'
import { paths } from './admin-frame.tsx'
import { emptyHash } from './audits.tsx'

export type DepositsView = FoundDeposits & {
  now: Millis
  /** Number of newest deposits searched, for the views that do not search all. */
  among: number
}

export const DepositsPanel = ({ view }: { view: DepositsView }) => {
  const { of, found, isFirst, now } = view
  return (
    <List
      id="all-deposits"
      title="All deposits"
      noun="deposits"
      items={found.items}
      columns={columnsFor(now)}
      href={pathWith(paths.deposits, { state: of === 'all' ? undefined : of })}
      next={of === 'all' ? nextOf(found) : undefined}
      isFirst={isFirst}
      hash={emptyHash}
      empty={{ title: 'No deposits', text: emptyWords[of] }}
      {...(of === 'all' ? {} : { words: wordsBelow(view) })}
    >
      <div class="pad">
        <ChoiceTabs path={paths.deposits} of={depositQuery} name="state" values={{ state: of }} />
      </div>
    </List>
  )
}

const emptyWords: Readonly<Record<DepositView, string>> = {
  all: 'Transfers to the treasury appear within seconds of their block.',
  waiting: 'Every deposit has enough confirmations.',
  unassigned: 'Every sender has a key or a session.',
  ignored: 'No deposit was too small or too large.',
}

const wordsBelow = ({ of, among }: DepositsView): string =>
  of === 'waiting' ? 'Oldest first.' : `Among the newest ${among.toLocaleString('en-US')}.`

const columnsFor = (now: Millis): Column<DepositRow>[] => [
  { head: 'Seen', at: 'when', cell: ({ seenAt }) => <When at={seenAt} now={now} /> },
  stateColumn,
  amountColumn,
  { head: 'From', at: 'what', cell: ({ from }) => <Address value={from} /> },
  {
    head: 'Account',
    kind: 'optional',
    cell: ({ account }) => (
      <a href={`${paths.accounts}/${account}`}>
        <Address value={account} />
      </a>
    ),
  },
  { head: 'Transaction', kind: 'optional', cell: ({ txHash }) => <Hash value={txHash} /> },
  {
    head: 'Action',
    kind: 'unnamed',
    at: 'act',
    cell: (row) =>
      mayAssign(row) ? (
        <ButtonLink small href={`${paths.deposits}/${row.id}`}>
          Assign
        </ButtonLink>
      ) : null,
  },
]

const mayAssign = ({ account, from, status, moved }: DepositRow): boolean =>
  account === from && moved === null && !['ignored', 'orphaned', 'reversed'].includes(status)

const assignFields = {
  account: { label: 'Wallet address of the account', placeholder: '0x…', required: true },
  reason,
}

/** Asks for a deposit's new account and the reason. */
export const AssignPanel = ({ row, now }: { row: DepositRow; now: Millis }) => (
  <Panel id="assign" title="Assign this deposit?">
    {mayAssign(row) ? (
      <ActionForm action={`/api/portal/admin/deposits/${row.id}/assign`} look="stack">
        <DepositFacts row={row} now={now} />
        <p>The unspent part moves to another account. A deposit can be moved only once.</p>
        <Fields of={assignFields} form="assign" sent={blank} />
        <p class="row">
          <Button look="go">Assign this deposit</Button>
          <ButtonLink look="plain" href={paths.deposits}>
            Cancel
          </ButtonLink>
        </p>
      </ActionForm>
    ) : (
      <div class="pad stack">
        <DepositFacts row={row} now={now} />
        <p>It was already assigned or claimed, or has nothing left to move.</p>
      </div>
    )}
  </Panel>
)

const DepositFacts = ({ row, now }: { row: DepositRow; now: Millis }) => (
  <Facts
    of={[
      ['Deposit', <code class="wrap">{row.id}</code>],
      ['Amount', row.amount === null ? 'Above the maximum' : <Amount nusd={row.amount} />],
      ['From', <code class="wrap">{row.from}</code>],
      ['State', wordsFor(row).label],
      ['Seen', <When at={row.seenAt} now={now} />],
      [
        'Transaction',
        <code>
          <Whole value={row.txHash} />
        </code>,
      ],
    ]}
  />
)
