/** Finds models that the discount of a plan brings below cost. */
import { matches } from '../access/keys/key.ts'
import { discountFor, ownDiscountFor, type Plan } from '../access/plan.ts'
import { belowCost, belowCostWords } from './below-cost.ts'
import type { Model } from './model.ts'

/** Losses of any discount of a plan, in sentences without full stops. */
export const lossesOfPlan = (models: readonly Model[], plan: Plan): string[] =>
  models.filter(({ id }) => isIn(plan, id)).flatMap((model) => lossesOf(model, plan))

/** Losses of those discounts that single models have in it. */
export const ownLossesOf = (models: readonly Model[], plan: Plan): string[] =>
  models
    .filter(({ id }) => ownDiscountFor(plan, id) !== undefined)
    .flatMap((model) => lossesOf(model, plan))

const isIn = ({ models }: Plan, id: string): boolean =>
  models.length === 0 || models.some((glob) => matches(glob, id))

function lossesOf(model: Model, plan: Plan): string[] {
  const bps = discountFor(plan, model.id)
  return belowCost([model], bps).map(
    (loss) => `${belowCostWords(loss)}, with the ${bps / 100} % off of plan ${plan.id}`,
  )
}
