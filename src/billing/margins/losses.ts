/** Lists sales below cost, in sentences for the operator. */
import { matches } from '../../access/keys/key.ts'
import type { Plan } from '../../access/plan.ts'
import { belowCost, belowCostWords } from '../../models/below-cost.ts'
import type { Model } from '../../models/model.ts'

/** Without full stops: prices below cost, then those that the discount of a plan brings there. */
export function lossWords(models: readonly Model[], plans: readonly Plan[]): string[] {
  const plain = belowCost(models).map(belowCostWords)
  const discounted = plans.flatMap(({ id, discountBps: bps, models: globs }) => {
    const covers = (model: string) =>
      globs.length === 0 || globs.some((glob) => matches(glob, model))
    const off = `with the ${bps / 100} % off of plan ${id}`
    return belowCost(models, { bps, covers }).map((loss) => `${belowCostWords(loss)}, ${off}`)
  })
  return [...plain, ...discounted]
}
