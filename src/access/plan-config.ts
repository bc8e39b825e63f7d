/** The plans that the configuration makes. */
import type { Nusd } from '../kernel/money.ts'
import { freeId, type Plan, type PlanLimits, type Plans, plansOf } from './plan.ts'

/** Models with a discount of their own in a plan. */
export type ModelDiscount = { match: string; discount_bps?: number | undefined }

/** An entry of the configuration; undefined members take the default. */
export type PlanEntry = {
  id: string
  name?: string | undefined
  price_nusd?: Nusd | undefined
  period?: 'month' | 'none' | undefined
  discount_bps?: number | undefined
  models?: readonly (string | ModelDiscount)[] | undefined
  limits: {
    rpm?: number | undefined
    concurrency?: number | undefined
    max_keys?: number | undefined
    max_depth?: number | undefined
    history_days?: number | undefined
  }
}

/** The server's limits of a key. The lower of these and the plan's applies. */
type ServerLimits = Pick<PlanLimits, 'rpm' | 'concurrency'>

export function makePlans(entries: readonly PlanEntry[], server: ServerLimits): Plans {
  const sold = entries.some(({ id }) => id === freeId) ? entries : [freeEntry, ...entries]
  return plansOf(sold.map((entry) => within(planOf(entry), server)))
}

/** Without configuration there is this plan alone. */
const freeEntry: PlanEntry = { id: freeId, limits: {} }

const planOf = (entry: PlanEntry): Plan =>
  merge(find(templates, entry.id) ?? { ...blank, id: entry.id, name: entry.id }, entry)

/** The faults of configured plans, each a sentence without its full stop. */
export function planFaults(entries: readonly PlanEntry[]): string[] {
  return entries.flatMap((entry) => {
    const isNew = find(templates, entry.id) === undefined
    const plan = planOf(entry)
    const faults: string[] = []
    if (plan.id === freeId && plan.price > 0n) {
      faults.push('"free" is the plan of accounts that pay nothing; set its price_nusd to 0')
    }
    if (plan.id === freeId && plan.period !== 'none') {
      faults.push('"free" is never charged; set its period to "none"')
    }
    if (isNew && entry.price_nusd === undefined) {
      faults.push(`"${plan.id}" needs price_nusd (0 if it is free)`)
    }
    return faults
  })
}

const year = 365

const blank: Omit<Plan, 'id'> = {
  name: '',
  price: 0n,
  period: 'month',
  discountBps: 0,
  limits: { rpm: 6000, concurrency: 1024, maxKeys: 50, maxDepth: 4, historyDays: 30 },
  models: [],
}

/** Plans that an id alone is enough for. */
const templates: readonly Plan[] = [
  { ...blank, id: freeId, name: 'Free', period: 'none' },
  {
    ...blank,
    id: 'builder',
    name: 'Builder',
    price: 20_000_000_000n,
    discountBps: 500,
    limits: { rpm: 20_000, concurrency: 2048, maxKeys: 200, maxDepth: 4, historyDays: year },
  },
  {
    ...blank,
    id: 'scale',
    name: 'Scale',
    price: 200_000_000_000n,
    discountBps: 1000,
    limits: { rpm: 100_000, concurrency: 8192, maxKeys: 500, maxDepth: 4, historyDays: 3 * year },
  },
]

const find = <T extends { id: string }>(all: readonly T[], id: string): T | undefined =>
  all.find((one) => one.id === id)

function merge(plan: Plan, entry: PlanEntry | undefined): Plan {
  if (!entry) return plan
  const { limits } = entry
  return {
    id: plan.id,
    name: entry.name ?? plan.name,
    price: entry.price_nusd ?? plan.price,
    period: entry.period ?? plan.period,
    discountBps: entry.discount_bps ?? plan.discountBps,
    limits: {
      rpm: limits.rpm ?? plan.limits.rpm,
      concurrency: limits.concurrency ?? plan.limits.concurrency,
      maxKeys: limits.max_keys ?? plan.limits.maxKeys,
      maxDepth: limits.max_depth ?? plan.limits.maxDepth,
      historyDays: limits.history_days ?? plan.limits.historyDays,
    },
    models: entry.models?.map((one) => (typeof one === 'string' ? one : one.match)) ?? plan.models,
    ...discountsOf(entry.models),
  }
}

/** Nothing where no model has a discount of its own. */
function discountsOf(models: PlanEntry['models'] = []): Pick<Plan, 'discounts'> {
  const discounts = models.map((one) =>
    typeof one === 'string'
      ? { match: one, discountBps: undefined }
      : { match: one.match, discountBps: one.discount_bps },
  )
  return discounts.some(({ discountBps }) => discountBps !== undefined) ? { discounts } : {}
}

function within(plan: Plan, server: ServerLimits): Plan {
  const rpm = Math.min(plan.limits.rpm, server.rpm)
  const concurrency = Math.min(plan.limits.concurrency, server.concurrency)
  return { ...plan, limits: { ...plan.limits, rpm, concurrency } }
}
