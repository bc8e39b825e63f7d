/** The operator's views of accounts: the list, one account, and its forms. */
import type { Millis } from '../../../kernel/clock.ts'
import { toUsd } from '../../../kernel/money.ts'
import type { AccountRow } from '../../../storage/db/schema/schema.ts'
import { toChecksumAddress } from '../../../verify/address.ts'
import { pathWith } from '../../../web/http/query.ts'
import { Address } from '../../../web/ui/address.tsx'
import { Amount, amountText } from '../../../web/ui/amount.tsx'
import { Button, ButtonLink } from '../../../web/ui/button.tsx'
import { Confirm } from '../../../web/ui/confirm.tsx'
import { FieldSearch } from '../../../web/ui/filters.tsx'
import { Fields } from '../../../web/ui/form-panel.tsx'
import { List, nextOf } from '../../../web/ui/paged-list.tsx'
import { Facts, Pad, Panel, Split } from '../../../web/ui/panel.tsx'
import { Badge } from '../../../web/ui/status.tsx'
import type { Column } from '../../../web/ui/table.tsx'
import { When } from '../../../web/ui/when.tsx'
import { accountQuery, type FoundAccounts } from '../api/operator-lists.ts'
import { paths } from './admin-frame.tsx'
import { emptyHash } from './audits.tsx'

export type AccountsView = FoundAccounts & { now: Millis }

export function AccountsPanel({ view: { found, now, prefix, isFirst } }: { view: AccountsView }) {
  return (
    <List
      id="accounts"
      title="All accounts"
      noun="accounts"
      items={found.items}
      columns={columnsFor(now)}
      href={pathWith(paths.accounts, { q: prefix })}
      next={nextOf(found)}
      isFirst={isFirst}
      hash={prefix.length === 42 ? prefix : emptyHash}
      empty={{
        title: 'No matching account',
        text: "Enter 0x and the first digits of a wallet's address, or all of it.",
        action:
          prefix.length === 42 ? (
            <ButtonLink href={`${paths.accounts}/${prefix}`}>Open it with a grant</ButtonLink>
          ) : undefined,
      }}
      aside={
        <FieldSearch path={paths.accounts} of={accountQuery} name="q" values={{ q: prefix }} />
      }
      {...(found.hasMore ? { words: 'More accounts follow.' } : {})}
    />
  )
}

const columnsFor = (now: Millis): Column<AccountRow>[] => [
  {
    head: 'Account',
    cell: ({ id }) => (
      <a href={`${paths.accounts}/${id}`}>
        <Address value={id} />
      </a>
    ),
  },
  { head: 'State', at: 'state', cell: ({ status }) => <State of={status} /> },
  { head: 'Plan', kind: 'optional', cell: ({ plan }) => capitalised(plan) },
  {
    head: 'Balance',
    kind: 'number',
    at: 'cost',
    cell: ({ balance }) => <Amount nusd={balance} as="sum" round="down" />,
  },
  {
    head: 'Held',
    kind: 'optional-number',
    cell: ({ held }) => <Amount nusd={held} as="list" round="up" />,
  },
  {
    head: 'Opened',
    kind: 'optional',
    at: 'when',
    cell: ({ createdAt }) => <When at={createdAt} now={now} />,
  },
]

const State = ({ of }: { of: AccountRow['status'] }) =>
  of === 'active' ? <Badge tone="ok">Active</Badge> : <Badge tone="bad">Suspended</Badge>

export type AccountView = {
  id: string
  /** Undefined for a wallet that was never used here. */
  row: AccountRow | undefined
  keys: string
  now: Millis
  /** The token of the grant form. */
  once: string
  isOwn: boolean
}

export const AccountPage = ({ view }: { view: AccountView }) => (
  <Split>
    <Panel
      id="account"
      title="Account"
      aside={view.row ? <State of={view.row.status} /> : null}
      foot={<a href={`${paths.auditLog}?account=${view.id}`}>Audit log of this account</a>}
    >
      <Pad>
        <AccountFacts view={view} />
        <Change view={view} />
      </Pad>
    </Panel>
    <GrantPanel view={view} />
  </Split>
)

function AccountFacts({ view: { id, row, keys, now } }: { view: AccountView }) {
  const address = <code class="wrap">{toChecksumAddress(id)}</code>
  if (!row) {
    return (
      <>
        <Facts of={[['Address', address]]} />
        <p>This wallet was never used here. A grant opens its account.</p>
      </>
    )
  }
  return (
    <Facts
      of={[
        ['Address', address],
        ['Balance', <Amount nusd={row.balance} />],
        ['Held by runs', <Amount nusd={row.held} />],
        ['Keys', keys],
        ['Plan', capitalised(row.plan)],
        ['Opened', <When at={row.createdAt} now={now} />],
      ]}
    />
  )
}

function Change({ view: { id, row, isOwn } }: { view: AccountView }) {
  if (!row) return null
  if (isOwn)
    return <p class="quiet">This is your own account; only another admin can suspend it.</p>
  const verb = row.status === 'active' ? 'Suspend' : 'Resume'
  return (
    <p>
      <ButtonLink
        look={verb === 'Suspend' ? 'bad' : 'go'}
        href={`${paths.accounts}/${id}/${verb.toLowerCase()}`}
      >
        {verb} this account…
      </ButtonLink>
    </p>
  )
}

const GrantPanel = ({ view: { id, once } }: { view: AccountView }) => (
  <Panel id="grant" title="Grant credit">
    <form class="pad stack" method="get" action={`${paths.accounts}/${id}/grant`}>
      <p>
        Credits this account with the operator's money. The audit log keeps it, with the reason.
      </p>
      <input type="hidden" name="once" value={once} />
      <Fields of={{ amount, reason }} form="grant" sent={blank} />
      <p>
        <Button look="go">Review</Button>
      </p>
    </form>
  </Panel>
)

const amount = {
  label: 'Amount in USD',
  placeholder: '10.00',
  inputmode: 'decimal',
  required: true,
} as const
export const reason = {
  label: 'Reason',
  hint: 'Kept in the audit log.',
  maxlength: 500,
  required: true,
}
export const blank = { draft: {} }

/** Plans are kept by their ids. */
const capitalised = (id: string): string => id.charAt(0).toUpperCase() + id.slice(1)

type ConfirmGrant = { id: string; amount: bigint; reason: string; once: string }

/** Asks for confirmation: a grant cannot be undone. */
export const ConfirmGrantPanel = ({ id, amount, reason, once }: ConfirmGrant) => (
  <Confirm
    id="grant"
    title={`Grant ${amountText(amount)}?`}
    consequence={
      <>
        This credits <strong>{amountText(amount)}</strong> to{' '}
        <code class="wrap">{toChecksumAddress(id)}</code> at once. It cannot be undone.
      </>
    }
    affected={[`Reason: ${reason}`]}
    action={`/api/portal/admin/accounts/${id}/grant`}
    button={`Grant ${amountText(amount)}`}
    look="go"
    keep="Cancel"
    keepHref={`${paths.accounts}/${id}`}
    fields={
      <>
        <input type="hidden" name="once" value={once} />
        <input type="hidden" name="amount" value={toUsd(amount)} />
        <input type="hidden" name="reason" value={reason} />
      </>
    }
  />
)

type ConfirmStatus = { id: string; keys: string; isSuspended: boolean }

/** Asks for the reason of a suspension or a resumption. */
export const ConfirmStatusPanel = ({ id, keys, isSuspended }: ConfirmStatus) => {
  const [verb, what] = isSuspended
    ? ['Resume', `Its keys (${keys}) work again at once, with its current balance.`]
    : [
        'Suspend',
        `Its keys (${keys}) stop at once, its live runs are ended and charged for the output
        they delivered, and signing in is refused. Its balance stays.`,
      ]
  return (
    <Confirm
      id="change"
      title={`${verb} this account?`}
      consequence={
        <>
          <code class="wrap">{toChecksumAddress(id)}</code>. {what}
        </>
      }
      action={`/api/portal/admin/accounts/${id}/${verb.toLowerCase()}`}
      fields={<Fields of={{ reason }} form="change" sent={blank} />}
      button={`${verb} this account`}
      look={isSuspended ? 'go' : 'bad'}
      keep="Cancel"
      keepHref={`${paths.accounts}/${id}`}
    />
  )
}
