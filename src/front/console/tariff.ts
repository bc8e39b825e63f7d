/** What the console's script needs of a model to tell what a question holds. */
import { contextOf } from '../../models/bound.ts'
import type { Model } from '../../models/model.ts'
import { stepFor } from '../../models/rates.ts'
import type { Tariff, WrittenTariff } from './talk.ts'

export const tariffOf = (model: Model): Tariff => ({
  prices: model.prices,
  overhead: model.overhead,
  contextTokens: contextOf(model),
  bytesPerToken: model.holdBytesPerToken ?? 1,
})

/** The same as an attribute. The console asks for no tier, so the steps without one are enough. */
export function writeTariff(model: Model): string {
  const { prices, overhead, contextTokens, bytesPerToken } = tariffOf(model)
  const steps = prices.card?.steps.get('') ?? [stepFor(prices, { inputTokens: 0 })]
  const written: WrittenTariff = {
    contextTokens,
    bytesPerToken,
    overhead,
    requestNusd: String(prices.requestNusd),
    steps: steps.map(({ aboveInputTokens, dearestInput, dearestOutput }) => [
      aboveInputTokens,
      String(dearestInput),
      String(dearestOutput),
    ]),
  }
  return JSON.stringify(written)
}
