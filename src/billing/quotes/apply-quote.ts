/** Makes a run cost what its quote says: the same model at the quoted rates. */
import type { Caller } from '../../access/keys/key.ts'
import type { Deps } from '../../app/deps-port.ts'
import { isId } from '../../kernel/ids.ts'
import { isSet, type JsonObject } from '../../kernel/json-object.ts'
import { refuse, refuseField } from '../../kernel/refusal.ts'
import { toCount } from '../../kernel/status-safe.ts'
import type { Bound } from '../../models/bound.ts'
import type { Model } from '../../models/model.ts'
import { pricesFrom } from '../../models/quoted-rates.ts'
import type { Prices } from '../../models/rates.ts'
import { withPrices } from '../../models/step-prices.ts'
import type { QuoteRow } from '../../storage/db/schema/schema.ts'
import { quotePrefix } from '../../verify/checks.ts'
import { anyAccount } from '../../verify/quote.ts'
import { quoteHeader, refuseExpired } from './quoted.ts'
import { toRate } from './quotes.ts'

/** The model at the rates of a quote, and the quote. */
export type QuotedModel = { model: Model; quote: QuoteRow }

type QuoteUse = {
  id: string
  caller: Caller
  model: Model
  body: JsonObject
  /** Whether the limit of output may be lowered although the request names a higher one. */
  fit: boolean
}

/**
 * Finds the quote that a run names. A request without a limit of its own gets the quote's.
 * @throws Refusal `not_found`, the same for quotes of other accounts, `gone` for an expired one,
 * `invalid_request` for one of another model
 */
export async function applyQuote(
  { quotes, clock, settings }: Pick<Deps, 'quotes' | 'clock' | 'settings'>,
  { id, caller, model, body, fit }: QuoteUse,
): Promise<QuotedModel> {
  const row = isId('quote', id) ? await quotes.find(id) : undefined
  if (!row || ![anyAccount, caller.account].includes(row.quote.account)) {
    return refuse('not_found', { param: quoteHeader, message: 'There is no such quote.' })
  }
  const { quote } = row
  // A quote with another issuer was signed for a log that was abandoned meanwhile.
  if (row.expiresAt <= clock.now() || quote.issuer !== settings.issuer) return refuseExpired()
  if (quote.model !== model.id) {
    refuseField(
      quoteHeader,
      `This quote is for ${quote.model}. Ask for one of ${model.id} at POST /v1/quotes.`,
    )
  }
  const prices = pricesOfQuote(row)
  const isLimited = isSet(body['max_tokens']) || isSet(body['max_completion_tokens'])
  if (model.kind === 'embedding' || (isLimited && !fit)) {
    return { model: withPrices(model, prices), quote: row }
  }
  const { n } = body
  const choices = typeof n === 'number' && n >= 1 ? n : 1
  const most = Math.max(1, Math.floor(Number(quote.max_output_tokens) / choices))
  const maxOutputTokens = Math.min(model.maxOutputTokens, most)
  return { model: { ...withPrices(model, prices), maxOutputTokens }, quote: row }
}

export const pricesOfQuote = ({ quote }: Pick<QuoteRow, 'quote'>): Prices =>
  pricesFrom(quote.rates.map(toRate))

/** @throws Refusal `invalid_request` for a run that could use more than the quote is for */
export function assertWithin({ quote }: QuoteRow, { inputTokens, outputTokens }: Bound): void {
  const sides = [
    ['input', inputTokens, Number(quote.max_input_tokens)],
    ['output', outputTokens, Number(quote.max_output_tokens)],
  ] as const
  for (const [side, asked, most] of sides) {
    if (asked <= most) continue
    const what = `This run can use up to ${toCount(asked)} tokens of ${side}`
    const way = side === 'input' ? 'Send less' : 'Lower max_tokens'
    refuse('invalid_request', {
      param: quoteHeader,
      message:
        `${what}, and the quote is for ${toCount(most)}. ${way}, or ask for a larger quote. ` +
        'Where a model has no tokenizer, a byte of input counts as a token.',
    })
  }
}

/** The digest of the quote by which a run is charged; undefined for one by the price list. */
export const quoteDigestOf = ({ priceList }: { priceList: string }): string | undefined =>
  priceList.startsWith(quotePrefix) ? priceList.slice(quotePrefix.length) : undefined
