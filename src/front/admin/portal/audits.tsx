/** The operator's view of the audit log. */
import { type Millis, toRfc3339 } from '../../../kernel/clock.ts'
import type { Page } from '../../../kernel/pagination.ts'
import type { AuditRow } from '../../../storage/db/schema/schema.ts'
import { toChecksumAddress } from '../../../verify/address.ts'
import { pathWith } from '../../../web/http/query.ts'
import { Address } from '../../../web/ui/address.tsx'
import { FieldSearch } from '../../../web/ui/filters.tsx'
import { Id } from '../../../web/ui/hash.tsx'
import { List, nextOf } from '../../../web/ui/paged-list.tsx'
import type { Column } from '../../../web/ui/table.tsx'
import { When } from '../../../web/ui/when.tsx'
import { auditQuery } from '../api/operator-lists.ts'
import { paths } from './admin-frame.tsx'
import { actionWords, detailName, detailText } from './audit-words.ts'

export type AuditListView = {
  found: Page<AuditRow>
  now: Millis
  /** Limits the list to this account. */
  account: string | undefined
  isFirst: boolean
}

export function AuditPanel({ view: { found, now, account, isFirst } }: { view: AuditListView }) {
  return (
    <List
      id="audit-log"
      title={account === undefined ? 'All entries' : `Entries of ${shortened(account)}`}
      noun="entries"
      items={found.items}
      columns={columnsFor(now)}
      href={pathWith(paths.auditLog, { account })}
      next={nextOf(found)}
      isFirst={isFirst}
      hash={account ?? emptyHash}
      empty={{
        title: 'No entries',
        text: 'Grants, suspensions, new keys and other actions are listed here.',
      }}
      aside={
        <FieldSearch path={paths.auditLog} of={auditQuery} name="account" values={{ account }} />
      }
    />
  )
}

/** The figure of a list that belongs to no account. */
export const emptyHash = '0x0000000000000000000000000000000000000000'

const shortened = (account: string): string => `${account.slice(0, 6)}…${account.slice(-4)}`

const columnsFor = (now: Millis): Column<AuditRow>[] => [
  { head: 'When', at: 'when', cell: ({ at }) => <When at={at} now={now} /> },
  { head: 'Who', at: 'who', cell: ({ actor }) => <Actor name={actor} /> },
  {
    head: 'What',
    at: 'what',
    cell: ({ action }) => (
      <>
        <strong>{actionWords(action)}</strong>
        <small class="quiet raw">{action}</small>
      </>
    ),
  },
  {
    head: 'Account',
    at: 'state',
    cell: ({ accountId }) =>
      isWallet(accountId) ? (
        <a href={`${paths.accounts}/${accountId}`}>
          <Address value={accountId} />
        </a>
      ) : (
        accountId
      ),
  },
  { head: 'Details', kind: 'optional', cell: ({ detail }) => <Detail of={detail} /> },
]

const isWallet = (text: string): boolean => /^0x[0-9a-f]{40}$/.test(text)

const Actor = ({ name }: { name: string }) =>
  isWallet(name) ? <Address value={name} /> : <Id value={name} />

const Detail = ({ of }: { of: AuditRow['detail'] }) => (
  <span class="grow details">
    {Object.entries(of).map(([name, value]) => (
      <span>
        {detailName(name)}: {detailText(name, value)}
      </span>
    ))}
  </span>
)

/** An entry as JSON. */
export const toAuditView = (row: AuditRow) => ({
  id: row.id,
  object: 'audit_entry' as const,
  at: toRfc3339(row.at),
  actor: row.actor,
  action: row.action,
  account: isWallet(row.accountId) ? toChecksumAddress(row.accountId) : row.accountId,
  subject: row.subject,
  detail: row.detail,
})
