/** What a run cost the operator: its usage at the cost of the route step that answered it. */
import { min, type Nusd } from '../kernel/money.ts'
import { costOf, type Usage } from './meter.ts'
import type { Model } from './model.ts'
import { linesOf, type Prices } from './rates.ts'
import { type DecidedUsage, decideUsage, type UsageClaim } from './usage.ts'

/** Most that is noted of one run, in nano-USD, so that sums of very many stay exact. */
const costMost: Nusd = 9_000_000_000_000n

/**
 * What an upstream charges for a run. Classes without a rate fall back as in prices. Usage
 * beyond the hold counts too, up to the limits of the model, although no customer pays for it.
 */
export function wholesaleOf(
  cost: Prices,
  model: Model,
  claim: UsageClaim,
  { usage, clamped }: DecidedUsage,
): Nusd {
  const used = clamped ? decideUsage({ ...claim, bound: limitsOf(model, claim) }).usage : usage
  return min(costOf(linesOf(cost, model.kind, inTier(cost, claim, used)), 0), costMost)
}

const limitsOf = (
  { contextTokens, maxOutputTokens }: Model,
  { bound }: UsageClaim,
): UsageClaim['bound'] => ({
  ...bound,
  inputTokens: Math.max(bound.inputTokens, contextTokens),
  outputTokens: Math.max(bound.outputTokens, maxOutputTokens * bound.n),
  // What the context leaves is a limit of holds; a server may count otherwise.
  contextTokens: undefined,
})

/**
 * The upstream bills the tier it names, also one that the model is not sold at, and classes by
 * their own rates.
 */
function inTier({ card }: Prices, { tier }: UsageClaim, { held: _, ...usage }: Usage): Usage {
  if (typeof tier !== 'string' || !card?.steps.has(tier)) return usage
  return { ...usage, tier }
}
