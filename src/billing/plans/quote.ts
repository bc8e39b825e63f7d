/** Computes what a change of plan does at a moment, and what it costs. */
import { freeId, type Plan } from '../../access/plan.ts'
import type { Millis } from '../../kernel/clock.ts'
import type { Nusd } from '../../kernel/money.ts'
import type { SubscriptionRow } from '../../storage/db/schema/schema.ts'
import { addMonths, restOf } from './period.ts'

/** The effect and the cost of choosing a plan at a moment. */
export type Quote = {
  /**
   * `now`: it begins and is paid; `later`: it follows at the end of the period; `cancel`: nothing
   * follows; `keep`: it is what the account has, and goes on.
   */
  change: 'now' | 'later' | 'cancel' | 'keep'
  plan: Plan
  /** Paid at once. */
  charge: Nusd
  /** The unused part of the present period; `charge` is lower by it. */
  credit: Nusd
  /** When the plan begins. */
  startsAt: Millis
  /** Until when `charge` pays; null for what is paid once, or not at all now. */
  paidUntil: Millis | null
}

/**
 * A plan that costs more than the present period did begins now. Every other change waits for the
 * end of the paid period, so that no change pays money back.
 */
export function quoteOf(current: SubscriptionRow | undefined, plan: Plan, at: Millis): Quote {
  const nothing = { plan, charge: 0n, credit: 0n, startsAt: at, paidUntil: null }
  if ((current?.plan ?? freeId) === plan.id) return { ...nothing, change: 'keep' }
  const end = current?.periodEnd ?? null
  const waits = current !== undefined && end !== null && end > at && plan.price <= current.price
  if (plan.id === freeId) return { ...nothing, change: 'cancel', startsAt: waits ? end : at }
  if (waits) return { ...nothing, change: 'later', startsAt: end }
  const credit =
    current && end !== null ? restOf(current.price, { start: current.periodStart, end }, at) : 0n
  const paidUntil = plan.period === 'month' ? addMonths(at, 1) : null
  return { ...nothing, change: 'now', charge: plan.price - credit, credit, paidUntil }
}

/** The subscription that an account has at a moment: a cancelled one until its period ends. */
export function currentOf(
  row: SubscriptionRow | undefined,
  now: Millis,
): SubscriptionRow | undefined {
  const isOver = row?.status === 'canceling' && row.periodEnd !== null && row.periodEnd <= now
  return isOver ? undefined : row
}
