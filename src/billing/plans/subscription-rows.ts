/** The subscriptions that commands of the ledger begin, change and end. */
import { and, inArray } from 'drizzle-orm'
import { definePart } from '../../ledger/part.ts'
import type { UnitOfWork } from '../../ledger/unit-of-work.ts'
import type { SubscriptionRow } from '../../storage/db/schema/schema.ts'
import { insert, lockedRows, update } from '../../storage/db/sql/query-steps.ts'

const changes: (keyof SubscriptionRow)[] = [
  'plan',
  'status',
  'price',
  'periodStart',
  'periodEnd',
  'nextPlan',
  'endedAt',
]

/** The live ones by account. */
export const subscriptionRows = definePart({
  name: 'subscriptions',
  rank: 50,
  empty: () => ({
    byAccount: new Map<string, SubscriptionRow>(),
    added: [] as SubscriptionRow[],
    written: new Set<SubscriptionRow>(),
  }),
  *load({ q, tables: { subscriptions } }, { byAccount }, ids: readonly string[]) {
    const { accountId, status } = subscriptions
    const own = inArray(accountId, [...new Set(ids)])
    const live = and(own, inArray(status, ['active', 'canceling']))
    for (const row of yield* lockedRows(q.select().from(subscriptions).where(live))) {
      byAccount.set(row.accountId, row)
    }
  },
  *write({ tables: { subscriptions } }, { added, written }) {
    // Updates first: a unique index allows one live subscription an account.
    yield* update(subscriptions, [...written], changes)
    yield* insert(subscriptions, added)
  },
  kept: ({ added }) => added,
})

/** The subscription of an account that has not ended. */
export function subscriptionOf(unit: UnitOfWork, account: string): SubscriptionRow | undefined {
  const row = unit.part(subscriptionRows).byAccount.get(account)
  return row?.endedAt === null ? row : undefined
}

export function addSubscription(unit: UnitOfWork, row: SubscriptionRow): void {
  const { byAccount, added } = unit.part(subscriptionRows)
  byAccount.set(row.accountId, row)
  added.push(row)
}

/** Writes a row that changed; a new one is written as it is in the end. */
export function subscriptionChanged(unit: UnitOfWork, row: SubscriptionRow): void {
  const { added, written } = unit.part(subscriptionRows)
  if (!added.includes(row)) written.add(row)
}
