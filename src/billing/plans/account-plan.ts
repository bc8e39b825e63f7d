/** Reads the plan of an account and what its subscription changes next. */
import type { Plan } from '../../access/plan.ts'
import type { Deps } from '../../app/deps-port.ts'
import type { AccountRow, SubscriptionRow } from '../../storage/db/schema/schema.ts'
import { currentOf } from './quote.ts'

/** The standing of an account with its plan. */
export type AccountPlan = {
  account: AccountRow
  now: number
  plan: Plan
  /** The subscription that runs; undefined on the free plan. */
  current: SubscriptionRow | undefined
  /** The newest one, when it ended because the balance did not pay for it. */
  lapsed: SubscriptionRow | undefined
}

export async function readAccountPlan(
  deps: Pick<Deps, 'accounts' | 'clock' | 'plans' | 'subscriptions'>,
  accountId: string,
): Promise<AccountPlan> {
  const now = deps.clock.now()
  const [account, newest] = await Promise.all([
    deps.accounts.find(accountId),
    deps.subscriptions.newest(accountId),
  ])
  if (!account) throw new Error('a session without an account')
  return {
    account,
    now,
    plan: deps.plans.of(account, now),
    current: newest?.endedAt === null ? currentOf(newest, now) : undefined,
    lapsed: newest?.status === 'lapsed' ? newest : undefined,
  }
}
