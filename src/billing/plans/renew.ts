/** The job that renews subscriptions whose period ended. */

import { freeId, type Plan } from '../../access/plan.ts'
import type { Deps } from '../../app/deps-port.ts'
import { type Millis, toRfc3339 } from '../../kernel/clock.ts'
import type { UnitOfWork } from '../../ledger/unit-of-work.ts'
import type { SubscriptionRow } from '../../storage/db/schema/schema.ts'
import { monthAt } from './period.ts'
import type { DueRenewal } from './store.ts'
import {
  accountOf,
  availableTo,
  endSubscription,
  notePlan,
  payPeriod,
  setPlan,
  tellPlan,
} from './subscription.ts'
import { subscriptionChanged, subscriptionOf, subscriptionRows } from './subscription-rows.ts'

type Needs = Pick<Deps, 'ledger' | 'ids' | 'keys' | 'plans'>

/** Subscriptions of one look at the database. */
const batchMax = 100

/**
 * The job that renews what is due. Of several nodes one does it, but for economy only: a period
 * that was renewed already is left alone by the command itself.
 */
export function planRenewer(
  deps: Needs & Pick<Deps, 'subscriptions' | 'clock' | 'log'>,
): () => Promise<void> {
  const { subscriptions, clock, log } = deps
  return async () => {
    const now = clock.now()
    let last: DueRenewal | undefined
    for (;;) {
      const due = await subscriptions.due(now, last, batchMax)
      if (due.length === 0 || !(await subscriptions.takeLease())) return
      for (const one of due) {
        try {
          await renew(deps, one)
        } catch (error) {
          log.error('plan.renew_failed', error, { subscription_id: one.id })
        }
      }
      last = due.at(-1)
      if (due.length < batchMax) return
    }
  }
}

/**
 * Ends, changes or pays for a subscription whose period ended, in one command. Twice is once: a
 * period that is not `due` any more is left as it is.
 */
export async function renew(deps: Needs, due: DueRenewal): Promise<void> {
  const { accountId } = due
  await deps.ledger.post({
    isExempt: true,
    account: accountId,
    keys: [],
    parts: [subscriptionRows.of(accountId)],
    decide(unit) {
      const row = subscriptionOf(unit, accountId)
      if (row?.id !== due.id || row.periodStart !== due.periodStart) return
      if (row.periodEnd === null || row.periodEnd > unit.now) return
      const follows = row.status === 'canceling' ? freeId : (row.nextPlan ?? row.plan)
      const plan = deps.plans.find(follows)
      const before = row.plan
      const paid = plan && plan.id !== freeId ? goOn(unit, row, row.periodEnd, plan) : undefined
      if (!paid) endSubscription(unit, row, paid === false ? 'lapsed' : 'ended')
      const detail = {
        plan: before,
        next: paid ? row.plan : freeId,
        price_nusd: paid ? row.price.toString() : '0',
        period_end: paid && row.periodEnd !== null ? toRfc3339(row.periodEnd) : null,
      }
      const action = paid ? 'plan.renew' : `plan.${paid === false ? 'lapse' : 'end'}`
      notePlan(unit, deps.ids, row, { actor: 'server', action, detail })
      if (paid !== undefined) tellPlan(unit, row, { isPaid: paid, before })
    },
  })
  deps.keys.forgetAccount(accountId)
}

/**
 * Pays for the period that now falls into; whole ones that passed meanwhile, when no server ran,
 * cost nothing. False, and nothing is changed, when the balance is too little.
 */
function goOn(unit: UnitOfWork, row: SubscriptionRow, ended: Millis, plan: Plan): boolean {
  if (availableTo(accountOf(unit, row.accountId)) < plan.price) return false
  const month = monthAt(row.startedAt, unit.now)
  const period =
    plan.period === 'month'
      ? { periodStart: month.start, periodEnd: month.end }
      : { periodStart: ended, periodEnd: null }
  Object.assign(row, { plan: plan.id, price: plan.price, nextPlan: null, ...period })
  subscriptionChanged(unit, row)
  payPeriod(unit, row, plan.price)
  setPlan(unit, row.accountId, plan.id, null)
  return true
}
