/**
 * Changes a subscription, its account and the balance together. Runs are priced by the plan in the
 * account's row, so that no run has to read a subscription.
 */

import { freeId } from '../../access/plan.ts'
import type { Json } from '../../kernel/canonical.ts'
import { toRfc3339 } from '../../kernel/clock.ts'
import type { Ids } from '../../kernel/ids.ts'
import { type Nusd, toJsonInteger, toUsd } from '../../kernel/money.ts'
import { refuse } from '../../kernel/refusal.ts'
import type { UnitOfWork } from '../../ledger/unit-of-work.ts'
import type { AccountRow, SubscriptionRow } from '../../storage/db/schema/schema.ts'
import { subscriptionChanged } from './subscription-rows.ts'

export function accountOf(unit: UnitOfWork, id: string): AccountRow {
  const account = unit.account(id)
  if (!account) throw new Error(`a plan for ${id}, which was not opened`)
  return account
}

/** The money that an account may still pay with. */
export const availableTo = ({ balance, held }: AccountRow): Nusd => balance - held

/** @throws Refusal `insufficient_balance` when the account cannot pay `charge` now. */
export function assertAffordable(account: AccountRow, charge: Nusd, topUpUrl: string): void {
  const available = availableTo(account)
  if (available >= charge) return
  const message =
    `This costs ${toUsd(charge)} USD now, and ${toUsd(available)} USD are available. ` +
    'Nothing was charged; add money first.'
  const metadata = {
    limited_by: 'balance',
    required_nusd: toJsonInteger(charge),
    available_nusd: toJsonInteger(available),
    top_up_url: topUpUrl,
  }
  refuse('insufficient_balance', { message, metadata })
}

/** Pays for the period that a subscription is in; the ref can be there only once. */
export function payPeriod(unit: UnitOfWork, row: SubscriptionRow, amount: Nusd): void {
  if (amount === 0n) return
  const account = accountOf(unit, row.accountId)
  if (availableTo(account) < amount) throw new Error(`${row.id} would make a debt`)
  account.balance -= amount
  unit.changed('account', account)
  unit.addTransfer({
    accountId: row.accountId,
    ref: `${row.id}/${row.periodStart}`,
    kind: 'plan',
    source: 'user',
    target: 'plans',
    amount,
    at: unit.now,
  })
}

/** Gives the account a plan, from this command on and until `until`. */
export function setPlan(
  unit: UnitOfWork,
  accountId: string,
  plan: string,
  until: number | null,
): void {
  const account = accountOf(unit, accountId)
  account.plan = plan
  account.planUntil = until
  unit.changed('account', account)
}

/** The account goes back to the free plan. */
export function endSubscription(
  unit: UnitOfWork,
  row: SubscriptionRow,
  status: 'ended' | 'lapsed',
): void {
  Object.assign(row, { status, endedAt: unit.now, nextPlan: null })
  subscriptionChanged(unit, row)
  setPlan(unit, row.accountId, freeId, null)
}

/** Keeps its plan and drops the change planned for the end of the period. */
export function keepSubscription(unit: UnitOfWork, row: SubscriptionRow): void {
  Object.assign(row, { status: 'active', nextPlan: null })
  subscriptionChanged(unit, row)
  setPlan(unit, row.accountId, row.plan, null)
}

/** Nothing follows on its period; without one it ends now. */
export function cancelSubscription(unit: UnitOfWork, row: SubscriptionRow): void {
  if (row.periodEnd === null) {
    endSubscription(unit, row, 'ended')
    return
  }
  Object.assign(row, { status: 'canceling', nextPlan: null })
  subscriptionChanged(unit, row)
  setPlan(unit, row.accountId, row.plan, row.periodEnd)
}

/** An action on a subscription and its actor, for the audit. */
export function notePlan(
  unit: UnitOfWork,
  ids: Ids,
  row: SubscriptionRow,
  note: { actor: string; action: string; detail: Record<string, Json> },
): void {
  const { action, detail, actor } = note
  const { id: subject, accountId } = row
  unit.addAudit({ id: ids.make('req'), at: unit.now, actor, action, accountId, subject, detail })
}

/** Tells that a plan goes on for another period, or that the balance did not pay for it. */
export function tellPlan(
  unit: UnitOfWork,
  row: SubscriptionRow,
  { isPaid, before }: { isPaid: boolean; before: string },
): void {
  const { id, accountId, plan, price, periodEnd } = row
  const until = isPaid && periodEnd !== null ? toRfc3339(periodEnd) : null
  const data = {
    subscription_id: id,
    plan: isPaid ? plan : before,
    price_nusd: isPaid ? toJsonInteger(price) : null,
    period_end: until,
  }
  const type = isPaid ? 'plan.renewed' : 'plan.lapsed'
  unit.addEvent({ type, account: accountId, subject: id, data })
}
