/** Tables of plans: subscriptions. */
import { sql } from 'drizzle-orm'
import type { Columns } from './columns.ts'

export function planTables(c: Columns) {
  /**
   * A plan that an account pays for from its balance. One at most goes on; the others are history.
   * A renewal moves the period of its row, and the transfer named after that period pays for it.
   */
  const subscriptions = c.table(
    'subscriptions',
    {
      id: c.text('id').primaryKey(),
      accountId: c.text('account_id').notNull(),
      plan: c.text('plan').notNull(),
      status: c.text('status').$type<'active' | 'canceling' | 'ended' | 'lapsed'>().notNull(),
      /** The full price of its period, before the credit for an unused part of another plan. */
      price: c.money('price').notNull(),
      /** When its first period began: the day of the month that every other one begins on. */
      startedAt: c.ms('started_at').notNull(),
      periodStart: c.ms('period_start').notNull(),
      /** Null for a plan that is paid once and for all. */
      periodEnd: c.ms('period_end'),
      /** The plan that follows at the end of its period; null for no change. */
      nextPlan: c.text('next_plan'),
      endedAt: c.ms('ended_at'),
    },
    (t) => [
      c
        .uniqueIndex('subscriptions_live')
        .on(t.accountId)
        .where(sql`${t.status} in ('active', 'canceling')`),
      c
        .index('subscriptions_due')
        .on(t.periodEnd)
        .where(sql`${t.status} in ('active', 'canceling')`),
      c.index('subscriptions_by_account').on(t.accountId, t.id),
      c.check('subscriptions_priced', sql`${t.price} >= 0`),
      c.check(
        'subscriptions_last',
        sql`${t.periodEnd} is null or ${t.periodEnd} > ${t.periodStart}`,
      ),
    ],
  )

  return { subscriptions }
}
