/** Plans: what a period costs, the discount of every run, and what an account may use. */
import type { Millis } from '../kernel/clock.ts'
import { matchesGlob } from '../kernel/glob.ts'
import type { Nusd } from '../kernel/money.ts'
import type { AccountRow } from '../storage/db/schema/schema.ts'

export type Plan = {
  id: string
  name: string
  price: Nusd
  /** How often the price is charged; `none` only for a free plan. */
  period: 'month' | 'none'
  /** Discount on the price of every run, in 0.01 %. */
  discountBps: number
  limits: PlanLimits
  /** Globs of the models it allows; empty for all. */
  models: readonly string[]
  /** Its globs in order, if any of them has a discount of its own. */
  discounts?: readonly PlanModels[] | undefined
}

/** Models of a plan, with their own discount in place of the plan's. */
export type PlanModels = { match: string; discountBps: number | undefined }

export type PlanLimits = {
  /** Requests a minute of one key. */
  rpm: number
  /** Runs of one key at once. */
  concurrency: number
  /** Keys of an account that are neither revoked nor expired. */
  maxKeys: number
  /** Levels of keys below a root key. */
  maxDepth: number
  /** How far back runs and receipts are listed. */
  historyDays: number
}

/** The plans on offer; the configuration may replace them at any time. */
export type Plans = {
  /** When they replaced others while the service ran; 0 for those of the start. */
  since: Millis
  /** The cheapest first. */
  list: readonly Plan[]
  find(id: string): Plan | undefined
  /** The plan of an account at a time: the free one once its own has ended or is gone. */
  of(account: Pick<AccountRow, 'plan' | 'planUntil'>, now: Millis): Plan
}

/** The discount that a plan has for a model alone: that of the first glob which names it. */
export const ownDiscountFor = ({ discounts }: Plan, model: string): number | undefined =>
  discounts?.find(({ match }) => matchesGlob(match, model))?.discountBps

/** The discount of a run, in 0.01 %. */
export const discountFor = (plan: Plan, model: string): number =>
  plan.discounts === undefined
    ? plan.discountBps
    : (ownDiscountFor(plan, model) ?? plan.discountBps)

/** The plan of an account that has bought none. */
export const freeId = 'free'

/** Plans of which one is free. */
export function plansOf(all: readonly Plan[]): Plans {
  const byId = new Map(all.map((plan) => [plan.id, plan]))
  const free = byId.get(freeId)
  if (!free) throw new Error('there is no free plan')
  return {
    since: 0,
    list: all.toSorted((a, b) => (a.price < b.price ? -1 : a.price > b.price ? 1 : 0)),
    find: (id) => byId.get(id),
    of: ({ plan, planUntil }, now) =>
      (planUntil !== null && planUntil <= now ? undefined : byId.get(plan)) ?? free,
  }
}
