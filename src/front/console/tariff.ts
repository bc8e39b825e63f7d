/** The facts of a model that the console's script needs to compute a hold. */
import { contextOf } from '../../models/bound.ts'
import { defaultPdfPages } from '../../models/media.ts'
import type { Model } from '../../models/model.ts'
import { stepFor } from '../../models/rates.ts'
import { dearestPrices } from '../../models/step-prices.ts'
import type { FileTokens } from './files.ts'
import type { Tariff, WrittenTariff } from './talk.ts'

export const tariffOf = (model: Model): Tariff => ({
  prices: dearestPrices(model),
  overhead: model.overhead,
  contextTokens: contextOf(model),
  bytesPerToken: model.holdBytesPerToken ?? 1,
  ...fileTokensOf(model),
})

/** The most tokens of an image and of a PDF, where the model takes them. */
export const fileTokensOf = (model: Model): FileTokens => ({
  imageTokens: model.imageTokensMax,
  pdfTokens: model.pageTokensMax && model.pageTokensMax * (model.pdfPagesMax ?? defaultPdfPages),
})

/** The same as an attribute. The console asks for no tier, so the steps without one are enough. */
export function writeTariff(model: Model): string {
  const { prices, ...others } = tariffOf(model)
  const steps = prices.card?.steps.get('') ?? [stepFor(prices, { inputTokens: 0 })]
  const written: WrittenTariff = {
    ...others,
    requestNusd: String(prices.requestNusd),
    steps: steps.map(({ aboveInputTokens, dearestInput, dearestOutput }) => [
      aboveInputTokens,
      String(dearestInput),
      String(dearestOutput),
    ]),
  }
  return JSON.stringify(written)
}
