/** Plans, subscriptions and prices in the shapes of the API. */
import type { Plan, Plans } from '../../access/plan.ts'
import { timeOrNull, toRfc3339 } from '../../kernel/clock.ts'
import { toJsonInteger } from '../../kernel/money.ts'
import { toListView } from '../../kernel/pagination.ts'
import type { SubscriptionRow } from '../../storage/db/schema/schema.ts'
import type { Quote } from './quote.ts'
import type { PlanAnswer, PlanPreviewAnswer, PlansAnswer, SubscriptionAnswer } from './shapes.ts'

/** Plans, subscriptions and prices as native JSON shows them. */

export const toPlanView = ({
  id,
  name,
  price,
  period,
  discountBps,
  limits,
  models,
  discounts = [],
}: Plan): PlanAnswer => ({
  id,
  object: 'plan',
  name,
  price_nusd: toJsonInteger(price),
  period,
  discount_bps: discountBps,
  limits: {
    rpm: limits.rpm,
    concurrency: limits.concurrency,
    max_keys: limits.maxKeys,
    max_depth: limits.maxDepth,
    history_days: limits.historyDays,
  },
  models: [...models],
  ...(discounts.length === 0
    ? {}
    : {
        discounts: discounts.map((one) => ({
          models: one.match,
          discount_bps: one.discountBps ?? discountBps,
        })),
      }),
})

export const toSubscriptionView = (row: SubscriptionRow): SubscriptionAnswer => ({
  id: row.id,
  object: 'subscription',
  plan: row.plan,
  status: row.status,
  price_nusd: toJsonInteger(row.price),
  started_at: toRfc3339(row.startedAt),
  period_start: toRfc3339(row.periodStart),
  period_end: timeOrNull(row.periodEnd),
  next_plan: row.nextPlan,
  ended_at: timeOrNull(row.endedAt),
})

/** All plans, and what an account has of them. */
export const toPlansView = (
  plans: Plans,
  { plan, current }: { plan: Plan; current: SubscriptionRow | undefined },
): PlansAnswer => ({
  ...toListView({ items: plans.list.map(toPlanView), hasMore: false }),
  plan: plan.id,
  subscription: current ? toSubscriptionView(current) : null,
})

/** `quotedAt` goes back with the subscribe, which then costs exactly this. */
export const toQuoteView = (
  { change, plan, charge, credit, startsAt, paidUntil }: Quote,
  quotedAt: number,
): PlanPreviewAnswer => ({
  object: 'plan.preview',
  plan: plan.id,
  change,
  charge_nusd: toJsonInteger(charge),
  credit_nusd: toJsonInteger(credit),
  starts_at: toRfc3339(startsAt),
  paid_until: timeOrNull(paidUntil),
  quoted_at: toRfc3339(quotedAt),
})
