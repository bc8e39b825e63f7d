/** The deposits that commands of the ledger credit, take back, move and refund. */
import { definePart } from '../../ledger/part.ts'
import type { DepositRow } from '../../storage/db/schema/schema.ts'
import { lockFound, update } from '../../storage/db/sql/query-steps.ts'

const changes: (keyof DepositRow)[] = [
  'blockTime',
  'account',
  'status',
  'reason',
  'creditedAt',
  'credits',
  'reversals',
  'loss',
  'moved',
]

/** By id. Never remembered: deposits change outside of the ledger too. */
export const depositRows = definePart({
  name: 'deposits',
  rank: 10,
  empty: () => ({ byId: new Map<string, DepositRow>(), written: new Set<DepositRow>() }),
  *load({ tables: { deposits } }, { byId }, ids: readonly string[]) {
    const id = [...new Set(ids)].sort()
    for (const row of yield* lockFound(deposits, { id })) byId.set(row.id, row)
  },
  write: ({ tables: { deposits } }, { written }) => update(deposits, [...written], changes),
})
