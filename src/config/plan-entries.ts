/** Reads the plans of the configuration, and refuses those that would sell below cost. */
import { type ModelDiscount, makePlans } from '../access/plan-config.ts'
import type { Model } from '../models/model.ts'
import { ownLossesOf } from '../models/plan-losses.ts'
import { lists, planLimits, words } from './entries.ts'
import { readList, refuseTwice } from './read-list.ts'
import { isTable, needed, optional, readTable, type ValuesOf } from './setting.ts'
import { integer } from './values.ts'

/** A plan; an undefined member has the value that the plan's name has, or the usual one. */
export type PlanConfig = Omit<ValuesOf<typeof lists.plans>, 'models'> & {
  models: (string | ModelDiscount)[] | undefined
  limits: ValuesOf<typeof planLimits>
}

/** The fields of a table among the `models` of a plan. */
export const planModelFields = {
  match: needed(words, 'Models, as a glob. The first item that names a model counts.'),
  discount_bps: optional(
    integer('0.01 %', 0, 10_000),
    'Discount on runs of these models in place of that of the plan.',
  ),
} as const

export function readPlans(raw: unknown, problems: string[]): PlanConfig[] {
  const plans = readList('plans', raw, problems, (entry, where) => {
    const { limits = {}, models, ...rest } = isTable(entry) ? entry : {}
    const plan = readTable(lists.plans, isTable(entry) ? rest : entry, where, problems)
    const read = readTable(planLimits, limits, `${where}.limits`, problems)
    const some = readPlanModels(models, `${where}.models`, problems)
    return plan && read ? { ...plan, models: some, limits: read } : undefined
  })
  refuseTwice('plans', plans, problems)
  return plans
}

function readPlanModels(
  raw: unknown,
  where: string,
  problems: string[],
): PlanConfig['models'] | undefined {
  if (raw === undefined) return undefined
  if (!Array.isArray(raw)) {
    problems.push(`${where} must be a list; each item a glob or { match = …, discount_bps = … }`)
    return undefined
  }
  return raw.flatMap((one: unknown, index): (string | ModelDiscount)[] => {
    const at = `${where}[${index + 1}]`
    if (isTable(one)) {
      const read = readTable(planModelFields, one, at, problems)
      return read ? [read] : []
    }
    const checked = words.check(one)
    if ('value' in checked) return [checked.value]
    problems.push(`${at} must be ${checked.must}, or { match = …, discount_bps = … }`)
    return []
  })
}

/** Discounts of single models that sell below a known cost, each with plan, model and rate. */
export const planLosses = (plans: readonly PlanConfig[], models: readonly Model[]): string[] =>
  makePlans(plans, noLimits).list.flatMap((plan) => ownLossesOf(models, plan))

/** Limits, which do not matter for prices. */
const noLimits = { rpm: 1, concurrency: 1 }
