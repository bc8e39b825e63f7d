/** Lowers the output limit of a run to what its caller can afford. */
import { max, type Nusd } from '../kernel/money.ts'
import type { Bound } from '../models/bound.ts'
import { costOf } from '../models/meter.ts'
import type { Model } from '../models/model.ts'
import { holdLines, holdRates } from '../models/rates.ts'
import { dearestPrices } from '../models/step-prices.ts'

/** The hold of a bound, in nano-USD: that of the dearest step which may be asked. */
export function holdOf(
  { prices, kind, varied }: Pick<Model, 'prices' | 'kind' | 'varied'>,
  bound: Bound,
  discountBps: number,
): Nusd {
  if (!varied) return costOf(holdLines(prices, kind, bound), discountBps)
  return varied.lists.map((list) => costOf(holdLines(list, kind, bound), discountBps)).reduce(max)
}

/**
 * The output tokens per choice that `room` nano-USD pays for, at most those of the bound; null if
 * output is free, or its server takes no limit. So many can be run, and one more cannot: the
 * search asks what the hold would be.
 */
export function affordableTokens(
  model: Model,
  bound: Bound,
  room: Nusd,
  discountBps: number,
): number | null {
  if (bound.outputTokens === 0 || bound.limit !== undefined || discountBps === 10_000) return null
  if (holdRates(dearestPrices(model), bound).outputPusd === 0n) return null
  let affordable = 0
  let beyond = bound.maxTokens + 1
  while (beyond - affordable > 1) {
    const tokens = Math.floor((affordable + beyond) / 2)
    if (holdOf(model, withTokens(bound, tokens), discountBps) <= room) affordable = tokens
    else beyond = tokens
  }
  return affordable
}

/**
 * The largest bound that `room` pays for, at most the one requested. If not even one token is
 * affordable, the bound of one token: the refusal then names the amount missing.
 */
export function fitBound(model: Model, bound: Bound, room: Nusd, discountBps: number): Bound {
  // A limit that a server is not told cannot be lowered.
  if (bound.limit !== undefined || holdOf(model, bound, discountBps) <= room) return bound
  const affordable = affordableTokens(model, bound, room, discountBps)
  if (affordable === null) return bound
  return { ...withTokens(bound, Math.max(1, affordable)), isLowered: true }
}

/** The bound with another limit of tokens per choice; an embedding has none. */
export const withTokens = (bound: Bound, maxTokens: number): Bound =>
  bound.outputTokens === 0 ? bound : { ...bound, maxTokens, outputTokens: maxTokens * bound.n }
