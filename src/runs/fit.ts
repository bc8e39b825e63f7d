import type { Nusd } from '../kernel/money.ts'
import type { Bound } from '../models/bound.ts'
import type { Model } from '../models/model.ts'

/** How many tokens a choice could have for `room` nano-USD; null where output is free. */
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
 * The bound whose hold is the largest that `room` affords, and not above what was asked for. Where
 * not even one token fits it is that of one: what a refusal then says is missing.
 */
export function fitBound(model: Model, bound: Bound, room: Nusd, discountBps: number): Bound {
  const affordable = affordableTokens(model, bound, room, discountBps)
  if (affordable === null || affordable >= bound.maxTokens) return bound
  return withTokens(bound, Math.max(1, affordable))
}

/** A bound with another most of tokens for each choice; an embedding has none. */
export const withTokens = (bound: Bound, maxTokens: number): Bound =>
  bound.outputTokens === 0 ? bound : { ...bound, maxTokens, outputTokens: maxTokens * bound.n }
