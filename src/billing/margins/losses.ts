/** Lists sales below cost, in sentences for the operator. */
import type { Plan } from '../../access/plan.ts'
import { belowCost, belowCostWords } from '../../models/below-cost.ts'
import type { Model } from '../../models/model.ts'
import { lossesOfPlan } from '../../models/plan-losses.ts'

/** Without full stops: prices below cost, then those that the discount of a plan brings there. */
export const lossWords = (models: readonly Model[], plans: readonly Plan[]): string[] => [
  ...belowCost(models).map(belowCostWords),
  ...plans.flatMap((plan) => lossesOfPlan(models, plan)),
]
