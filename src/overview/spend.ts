import type { Millis } from '../kernel/clock.ts'
import { max, type Nusd } from '../kernel/money.ts'
import type { Usage } from '../usage/sum.ts'
import { dayMs, dayOf } from '../usage/usage.ts'

/** What an account spent on each of the last days, today last. */
export type Spend = { days: { day: Millis; cost: Nusd }[]; total: Nusd; runs: number }

export const spendDays = 30
/** Days that say what a day costs lately. */
const latelyDays = 7

/** The range of {@link Spend}. */
export const spendPeriod = (now: Millis): { from: Millis; to: Millis } => ({
  from: dayOf(now) - (spendDays - 1) * dayMs,
  to: dayOf(now) + dayMs,
})

/** Days without a run have a place too. */
export function spendOf({ rows, totals, from }: Pick<Usage, 'rows' | 'totals' | 'from'>): Spend {
  const costs = new Map(rows.map(({ day, cost }) => [day, cost]))
  const days = Array.from({ length: spendDays }, (_, i) => {
    const day = from + i * dayMs
    return { day, cost: costs.get(day) ?? 0n }
  })
  return { days, total: totals.cost, runs: totals.runs }
}

/**
 * How long money lasts at the pace of the last seven days, of fewer where it was first spent later;
 * undefined where nothing was spent.
 */
export function lastingOf(
  available: Nusd,
  { days }: Pick<Spend, 'days'>,
  now: Millis,
): { days: number; perDay: Nusd } | undefined {
  const lately = days.slice(-latelyDays)
  const first = lately.find(({ cost }) => cost > 0n)
  if (!first) return undefined
  const spent = lately.reduce((sum, { cost }) => sum + cost, 0n)
  // What began today is not taken for the pace of every minute of it.
  const elapsed = Math.max(now - first.day, dayMs)
  const perDay = max(1n, (spent * BigInt(dayMs)) / BigInt(elapsed))
  return { days: Number(max(0n, available) / perDay), perDay }
}
