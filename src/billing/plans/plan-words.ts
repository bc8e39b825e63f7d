/** Says in words what a plan is and what a change of plan changes. */
import type { Plan, PlanLimits } from '../../access/plan.ts'

/** Describes a plan, and the effects of changing it, in words. */

export const planPath = '/dashboard/plan'

export const priceText = ({ price, period }: Pick<Plan, 'price' | 'period'>): string =>
  price === 0n ? 'nothing to pay' : period === 'month' ? 'a month' : 'once'

export const discountText = (bps: number): string => (bps === 0 ? 'None' : `${bps / 100}%`)

/**
 * The list price of a month's runs, in nano-USD and whole cents, from which the dearer of two plans
 * costs less in all; undefined where it never does, or always.
 */
export function paysFrom(cheaper: Plan, dearer: Plan): bigint | undefined {
  // With discounts of single models it depends on what is run.
  if (cheaper.discounts ?? dearer.discounts) return undefined
  const price = dearer.price - cheaper.price
  const bps = BigInt(dearer.discountBps - cheaper.discountBps)
  if (price <= 0n || bps <= 0n) return undefined
  const from = (price * 10_000n + bps - 1n) / bps
  return ((from + cent - 1n) / cent) * cent
}

/** In nano-USD. */
const cent = 10_000_000n

/** The differences between two plans, one line each: name, before, after. */
export function differences(from: Plan, to: Plan): [what: string, from: string, to: string][] {
  const limits: [string, keyof PlanLimits][] = [
    ['Requests per minute and key', 'rpm'],
    ['Concurrent runs per key', 'concurrency'],
    ['Active keys', 'maxKeys'],
    ['Levels below a root key', 'maxDepth'],
    ['History in lists, days', 'historyDays'],
  ]
  const lines: [string, string, string][] = [
    [discountWords(to), discountText(from.discountBps), discountText(to.discountBps)],
    ...limits.map(([what, name]): [string, string, string] => [
      what,
      from.limits[name].toLocaleString('en-US'),
      to.limits[name].toLocaleString('en-US'),
    ]),
    ['Models', planModelsText(from), planModelsText(to)],
  ]
  return lines.filter(([, before, after]) => before !== after)
}

/** The name of the plan's discount: a model with its own has that in its place. */
export const discountWords = ({ discounts }: Plan): string =>
  discounts ? 'Discount on other runs' : 'Discount on every run'

/** The models of a plan, each with the discount that it has alone. */
export function planModelsText({ models, discounts }: Plan): string {
  if (models.length === 0) return 'All'
  if (!discounts) return models.join(', ')
  const texts = discounts.map(({ match, discountBps: bps }) =>
    bps === undefined ? match : `${match} (${bps === 0 ? 'no' : discountText(bps)} discount)`,
  )
  return texts.join(', ')
}
