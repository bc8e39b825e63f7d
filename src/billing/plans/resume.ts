/** Takes back a cancellation or a planned change of plan. */

import type { Deps } from '../../app/deps-port.ts'
import { refuse } from '../../kernel/refusal.ts'
import type { SubscriptionRow } from '../../storage/db/schema/schema.ts'
import { currentOf } from './quote.ts'
import { keepSubscription, notePlan } from './subscription.ts'
import { subscriptionOf, subscriptionRows } from './subscription-rows.ts'

/**
 * Takes back what was to happen at the end of the period: a cancellation or a change of plan.
 * @throws Refusal `conflict` when the subscription is over already, `rate_limited` above twice the
 * budget of free writes
 */
export async function resumePlan(
  { ledger, ids, keys }: Pick<Deps, 'ledger' | 'ids' | 'keys'>,
  account: string,
  actor = account,
): Promise<SubscriptionRow> {
  const row = await ledger.post({
    isRepair: true,
    account,
    keys: [],
    parts: [subscriptionRows.of(account)],
    decide(unit) {
      const current = currentOf(subscriptionOf(unit, account), unit.now)
      if (!current) return refuse('conflict', 'No plan is active. Choose one to start again.')
      if (current.status === 'active' && current.nextPlan === null) return { ...current }
      keepSubscription(unit, current)
      const detail = { plan: current.plan }
      notePlan(unit, ids, current, { actor, action: 'plan.resume', detail })
      return { ...current }
    },
  })
  keys.forgetAccount(account)
  return row
}
