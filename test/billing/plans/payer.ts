import { expect } from 'bun:test'
import { asc, eq } from 'drizzle-orm'
import type { Plan } from '../../../src/access/plan.ts'
import { cancelPlan } from '../../../src/billing/plans/cancel.ts'
import { renew } from '../../../src/billing/plans/renew.ts'
import { resumePlan } from '../../../src/billing/plans/resume.ts'
import { subscribe } from '../../../src/billing/plans/subscribe.ts'
import { grantCredit } from '../../../src/ledger/grant.ts'
import type { SubscriptionRow, TransferRow } from '../../../src/storage/db/schema/schema.ts'
import { rows } from '../../../src/storage/db/sql/query-steps.ts'
import { usd, type World } from '../../support/world.ts'

let made = 0

/** An account with money, and what it does with its plan. */
export async function payer(w: World, dollars: bigint | number) {
  made++
  const account = `0x${made.toString(16).padStart(40, '0')}`
  const fund = (amount: bigint) =>
    grantCredit(w.deps, { account, amount, reason: 'test', actor: 'test' })
  if (dollars > 0) await fund(BigInt(dollars) * usd)
  const { accounts, subscriptions } = w.db.tables
  const all = (): Promise<SubscriptionRow[]> =>
    w.db.read((q) => {
      const own = q.select().from(subscriptions).where(eq(subscriptions.accountId, account))
      return rows(own.orderBy(asc(subscriptions.id)))
    })
  return {
    account,
    fund,
    /** All there were, the oldest first. */
    all,
    plan: (id: string): Plan => w.deps.plans.find(id) ?? expect.unreachable(),
    subscribe: (id: string, quotedAt?: number) =>
      subscribe(w.deps, {
        account,
        plan: w.deps.plans.find(id) ?? expect.unreachable(),
        quotedAt,
      }),
    cancel: () => cancelPlan(w.deps, account),
    resume: () => resumePlan(w.deps, account),
    /** The one that goes on. */
    current: async (): Promise<SubscriptionRow> => {
      const row = await w.deps.subscriptions.find(account)
      return row ?? expect.unreachable()
    },
    /** Renews as the job does what is due at this moment, if it is this account's. */
    renew: async () => {
      const due = await w.deps.subscriptions.due(w.deps.clock.now(), undefined, 1000)
      for (const one of due) if (one.accountId === account) await renew(w.deps, one)
    },
    row: async () => {
      const found = await w.db.read((q) =>
        rows(q.select().from(accounts).where(eq(accounts.id, account))),
      )
      return found[0] ?? expect.unreachable()
    },
    /** What was paid for plans, the first first. */
    paid: async (): Promise<bigint[]> => (await transfersOf(w, account)).map((one) => one.amount),
  }
}

export type Payer = Awaited<ReturnType<typeof payer>>

async function transfersOf(w: World, account: string): Promise<TransferRow[]> {
  const { transfers } = w.db.tables
  const own = await w.db.read((q) =>
    rows(
      q
        .select()
        .from(transfers)
        .where(eq(transfers.accountId, account))
        .orderBy(asc(transfers.seq)),
    ),
  )
  return own.filter(({ kind }) => kind === 'plan')
}
