/** The grants that are booked once ever, by their ids in the audit, for commands that book one. */
import type { Nusd } from '../kernel/money.ts'
import { findRows } from '../storage/db/sql/query-steps.ts'
import { definePart } from './part.ts'

export type BookedGrant = { account: string; amount: Nusd }

/** Read under the lock of the account; two accounts of one id meet at the key of the audit. */
export const grantRows = definePart({
  name: 'grants',
  rank: 27,
  empty: () => new Map<string, BookedGrant>(),
  *load({ tables: { auditEntries } }, booked, ids: readonly string[]) {
    for (const entry of yield* findRows(auditEntries, { id: [...new Set(ids)].sort() })) {
      const grant = bookedIn(entry)
      if (grant) booked.set(entry.id, grant)
    }
  },
})

/** The grant of an entry of the audit; undefined for another action. */
export function bookedIn(entry: {
  action: string
  accountId: string
  detail: Record<string, unknown>
}): BookedGrant | undefined {
  const amount = entry.detail['amount_nusd']
  if (entry.action !== 'grant' || typeof amount !== 'string') return undefined
  return { account: entry.accountId, amount: BigInt(amount) }
}
