/** The operator's panel of accounts that stored most today without paying for it. */
import { toUsd } from '../../../kernel/money.ts'
import type { AccountRow } from '../../../storage/db/schema/schema.ts'
import { toChecksumAddress } from '../../../verify/address.ts'
import { shortHash } from '../../../web/ui/hash.tsx'
import { Panel } from '../../../web/ui/panel.tsx'
import { type Column, Table } from '../../../web/ui/table.tsx'
import { paths } from './admin-frame.tsx'

/** How many are shown. */
export const mostWriters = 10

export const WritersPanel = ({ writers }: { writers: readonly AccountRow[] }) => (
  <Panel id="writers" title="Largest unpaid writers today">
    <Table caption="Accounts by what they stored unpaid today" columns={columns} rows={writers} />
  </Panel>
)

const columns: Column<AccountRow>[] = [
  {
    head: 'Account',
    cell: ({ id }) => <a href={`${paths.accounts}/${id}`}>{shortHash(toChecksumAddress(id))}</a>,
  },
  { head: 'Rows', cell: ({ freeWrites }) => <>{String(freeWrites ?? 0)}</> },
  { head: 'Bytes', cell: ({ freeBytes }) => <>{String(freeBytes ?? 0)}</> },
  { head: 'Ever paid', cell: ({ paidIn }) => <>{`$${toUsd(paidIn ?? 0n)}`}</> },
]
