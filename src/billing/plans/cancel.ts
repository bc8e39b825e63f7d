/** Cancels a subscription at the end of its paid period. */

import type { Deps } from '../../app/deps-port.ts'
import { refuse } from '../../kernel/refusal.ts'
import type { SubscriptionRow } from '../../storage/db/schema/schema.ts'
import { currentOf } from './quote.ts'
import { cancelSubscription, notePlan } from './subscription.ts'
import { subscriptionOf, subscriptionRows } from './subscription-rows.ts'

/**
 * Lets a subscription end with its period, which is paid; cancelled twice is once.
 * @throws Refusal `conflict` for an account that pays for no plan.
 */
export async function cancelPlan(
  { ledger, ids, keys }: Pick<Deps, 'ledger' | 'ids' | 'keys'>,
  account: string,
  actor = account,
): Promise<SubscriptionRow> {
  const row = await ledger.post({
    // Once until the plan is kept, which the budget of free writes may refuse.
    isExempt: true,
    account,
    keys: [],
    parts: [subscriptionRows.of(account)],
    decide(unit) {
      const current = currentOf(subscriptionOf(unit, account), unit.now)
      if (!current)
        return refuse('conflict', 'There is no plan to cancel: you are on the free plan.')
      if (current.status === 'canceling') return { ...current }
      cancelSubscription(unit, current)
      const detail = { plan: current.plan }
      notePlan(unit, ids, current, { actor, action: 'plan.cancel', detail })
      return { ...current }
    },
  })
  keys.forgetAccount(account)
  return row
}
