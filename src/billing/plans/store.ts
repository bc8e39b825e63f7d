/** Reads and writes subscriptions. */
import { and, asc, desc, eq, inArray, lte, sql } from 'drizzle-orm'
import type { Millis } from '../../kernel/clock.ts'
import type { Db } from '../../storage/db/engine/db.ts'
import { type Lease, type LeaseTime, takeLease } from '../../storage/db/engine/lease.ts'
import type { SubscriptionRow } from '../../storage/db/schema/schema.ts'
import { first, rows } from '../../storage/db/sql/query-steps.ts'

/** A subscription whose period ended. */
export type DueRenewal = Pick<SubscriptionRow, 'id' | 'accountId' | 'periodStart'> & {
  periodEnd: Millis
}

/** The subscriptions of accounts; only the ledger changes them. */
export type SubscriptionStore = {
  /** The right to renew; undefined while another node has it. */
  takeLease(): Promise<Lease | undefined>
  /** The active or cancelled subscription, also past its end until the renewal job has ended it. */
  find(account: string): Promise<SubscriptionRow | undefined>
  /** The newest, whether it goes on or not. */
  newest(account: string): Promise<SubscriptionRow | undefined>
  /** At most `limit` whose period ended, the longest ago first, after `last`. */
  due(now: Millis, last: DueRenewal | undefined, limit: number): Promise<DueRenewal[]>
}

type LeaseContext = { clock: LeaseTime; node: string }

export function subscriptionStore(db: Db, { clock, node }: LeaseContext): SubscriptionStore {
  const { subscriptions } = db.tables
  const { accountId, id, periodEnd, periodStart, status } = subscriptions
  const goesOn = inArray(status, ['active', 'canceling'])
  return {
    takeLease: () => takeLease(db, clock, 'plans', node),
    find: (account) =>
      db.read((q) =>
        first(
          q
            .select()
            .from(subscriptions)
            .where(and(eq(accountId, account), goesOn)),
        ),
      ),
    newest: (account) =>
      db.read((q) => {
        const own = q.select().from(subscriptions).where(eq(accountId, account))
        return first(own.orderBy(desc(id)).limit(1))
      }),
    due: async (now, last, limit) => {
      const beyond = last && sql`(${periodEnd}, ${id}) > (${last.periodEnd}, ${last.id})`
      const found = await db.read((q) =>
        rows(
          q
            .select({ id, accountId, periodStart, periodEnd })
            .from(subscriptions)
            .where(and(goesOn, lte(periodEnd, now), beyond))
            .orderBy(asc(periodEnd), asc(id))
            .limit(limit),
        ),
      )
      return found.flatMap((row) =>
        row.periodEnd === null ? [] : { ...row, periodEnd: row.periodEnd },
      )
    },
  }
}
