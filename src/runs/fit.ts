/** Lowers the output limit of a run to what its caller can afford. */
import type { Nusd } from '../kernel/money.ts'
import type { Bound } from '../models/bound.ts'
import type { Model } from '../models/model.ts'

/** The output tokens per choice that `room` nano-USD pays for; null if output is free. */
export function affordableTokens(
  model: Model,
  bound: Bound,
  room: Nusd,
  discountBps: number,
): number | null {
  const { inputPusd, outputPusd, requestNusd } = model.prices
  if (outputPusd === 0n || bound.outputTokens === 0 || discountBps === 10_000) return null
  const beforeDiscount = (room * 10_000n) / BigInt(10_000 - discountBps)
  const rest = (beforeDiscount - requestNusd) * 1000n - BigInt(bound.inputTokens) * inputPusd
  if (rest <= 0n) return 0
  return Math.min(Number(rest / outputPusd / BigInt(bound.n)), model.maxOutputTokens)
}

/**
 * The largest bound that `room` pays for, at most the one requested. If not even one token is
 * affordable, the bound of one token: the refusal then names the amount missing.
 */
export function fitBound(model: Model, bound: Bound, room: Nusd, discountBps: number): Bound {
  const affordable = affordableTokens(model, bound, room, discountBps)
  if (affordable === null || affordable >= bound.maxTokens) return bound
  return withTokens(bound, Math.max(1, affordable))
}

/** The bound with another limit of tokens per choice; an embedding has none. */
export const withTokens = (bound: Bound, maxTokens: number): Bound =>
  bound.outputTokens === 0 ? bound : { ...bound, maxTokens, outputTokens: maxTokens * bound.n }
