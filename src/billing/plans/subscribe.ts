/** Subscribes an account to a plan, or changes its plan. */

import { freeId, type Plan } from '../../access/plan.ts'
import type { Deps } from '../../app/deps-port.ts'
import { type Millis, timeOrNull } from '../../kernel/clock.ts'
import { refuse } from '../../kernel/refusal.ts'
import { repairTimes, whyNoFreeWrites } from '../../ledger/free-writes.ts'
import type { Once } from '../../ledger/once.ts'
import type { UnitOfWork } from '../../ledger/unit-of-work.ts'
import type { AccountRow, SubscriptionRow } from '../../storage/db/schema/schema.ts'
import { currentOf, type Quote, quoteOf } from './quote.ts'
import {
  accountOf,
  assertAffordable,
  cancelSubscription,
  endSubscription,
  keepSubscription,
  notePlan,
  payPeriod,
  setPlan,
} from './subscription.ts'
import { addSubscription, subscriptionOf, subscriptionRows } from './subscription-rows.ts'

/** How long what was shown may be taken at its price, in ms. */
const quotedMs = 600_000

export type SubscribeRequest = {
  account: string
  plan: Plan
  /** When its price was shown, so that exactly that is paid; now when undefined. */
  quotedAt?: Millis | undefined
  /** Set if the caller sent an Idempotency-Key. */
  once?: Once<SubscribeResult> | undefined
  /** The wallet that does it; the account's own by default. */
  actor?: string | undefined
}

/** The account afterwards. */
export type SubscribeResult = { account: AccountRow; current: SubscriptionRow | undefined }

type Needs = Pick<Deps, 'ledger' | 'ids' | 'keys' | 'plans' | 'settings'>

/**
 * Begins a plan and pays for it, or says what follows on the present one, in one command. Asked
 * for again, it is what the account has, and costs nothing. Gives what stood at the commit.
 * @throws Refusal `insufficient_balance`, `conflict` for a price shown too long ago, or
 * `rate_limited` for a change that pays nothing.
 */
export async function subscribe(
  deps: Needs,
  { account, plan, quotedAt, once, actor = account }: SubscribeRequest,
): Promise<{ quote: Quote; stands: SubscribeResult; at: Millis }> {
  const id = deps.ids.make('sub')
  const done = await deps.ledger.post({
    // It pays, or asks the budget itself.
    isExempt: true,
    account,
    keys: [],
    parts: [subscriptionRows.of(account)],
    call: once?.scope,
    decide(unit) {
      once?.assertFirst(unit)
      const known = subscriptionOf(unit, account)
      const at = quotedAt ?? unit.now
      assertFresh(at, unit.now, deps.plans.since)
      const current = currentOf(known, at)
      const quote = quoteOf(current, plan, at)
      const topUp = `${deps.settings.baseUrl}/dashboard/deposits`
      assertAffordable(accountOf(unit, account), quote.charge, topUp)
      assertPaysOrCancels(deps, unit, account, { quote, current })
      if (quote.change === 'now') {
        if (known) endSubscription(unit, known, 'ended')
        begin(unit, deps, { id, account, actor }, quote)
      } else if (current) change(unit, deps, current, { quote, actor })
      const now = subscriptionOf(unit, account)
      const stands = { account: { ...accountOf(unit, account) }, current: now && { ...now } }
      once?.note(unit, stands)
      return { quote, stands, at: unit.now }
    },
  })
  deps.keys.forgetAccount(account)
  return done
}

/** Prices that came after `at` are not the ones that were shown. */
function assertFresh(at: Millis, now: Millis, pricesSince: Millis): void {
  if (at <= now && at > now - quotedMs && at >= pricesSince) return
  refuse('conflict', {
    param: 'quoted_at',
    message: 'This price was shown too long ago. Nothing was charged; preview it again.',
  })
}

/**
 * A change that pays nothing stores rows. Only what ends a plan is taken in any case: it is once
 * until the plan is kept.
 * @throws Refusal `rate_limited` above twice the budget of free writes
 */
function assertPaysOrCancels(
  { settings }: Needs,
  unit: UnitOfWork,
  account: string,
  { quote, current }: { quote: Quote; current: SubscriptionRow | undefined },
): void {
  if (quote.charge > 0n) return
  if (quote.change === 'cancel' && current?.status === 'active') return
  const full = whyNoFreeWrites(settings, accountOf(unit, account), unit.now, repairTimes)
  if (full) throw full
}

type SubscriptionStart = { id: string; account: string; actor: string }

function begin(
  unit: UnitOfWork,
  { ids }: Needs,
  { id, account, actor }: SubscriptionStart,
  quote: Quote,
): void {
  const { plan, charge, credit } = quote
  const row: SubscriptionRow = {
    id,
    accountId: account,
    plan: plan.id,
    status: 'active',
    price: plan.price,
    startedAt: quote.startsAt,
    periodStart: quote.startsAt,
    periodEnd: quote.paidUntil,
    nextPlan: null,
    endedAt: null,
  }
  payPeriod(unit, row, charge)
  addSubscription(unit, row)
  setPlan(unit, account, plan.id, null)
  const detail = {
    plan: plan.id,
    charge_nusd: charge.toString(),
    credit_nusd: credit.toString(),
    period_end: timeOrNull(row.periodEnd),
  }
  notePlan(unit, ids, row, { actor, action: 'plan.subscribe', detail })
}

/** Sets what follows the present period: the same plan, another one or none. Charges nothing. */
function change(
  unit: UnitOfWork,
  { ids }: Needs,
  row: SubscriptionRow,
  { quote, actor }: { quote: Quote; actor: string },
): void {
  const before = `${row.status} ${row.nextPlan}`
  if (quote.change === 'cancel') cancelSubscription(unit, row)
  else keepSubscription(unit, row)
  if (quote.change === 'later') row.nextPlan = quote.plan.id
  if (`${row.status} ${row.nextPlan}` === before) return
  const detail = { plan: row.plan, next: quote.change === 'cancel' ? freeId : quote.plan.id }
  notePlan(unit, ids, row, { actor, action: `plan.${quote.change}`, detail })
}
