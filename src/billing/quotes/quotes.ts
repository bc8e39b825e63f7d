/** Quotes as they are stored and shown. */
import { type Millis, toRfc3339 } from '../../kernel/clock.ts'
import { type Hex, toHex } from '../../kernel/hex.ts'
import type { RateOf } from '../../models/quoted-rates.ts'
import type { QuoteRow } from '../../storage/db/schema/schema.ts'
import type { Quote, QuotedRate } from '../../verify/quote.ts'
import type { QuoteAnswer } from './shapes.ts'

/** Stored quotes. The ledger adds and uses them. */
export type QuoteStore = {
  find(id: string): Promise<QuoteRow | undefined>
  byDigest(digest: string): Promise<QuoteRow | undefined>
  /** How many of an account have not expired. */
  countOpen(account: string, now: Millis): Promise<number>
  /** Deletes those that expired before; `unused` says which may be younger. */
  dropPast(before: Past): Promise<void>
}

/** How long an expired quote stays, in ms: longer than any run that began with it. */
const keptMs = 30 * 86_400_000

/** How long one stays that no run began with: clocks of nodes differ by less. */
const unusedKeptMs = 60_000

/** The expiries up to which quotes are deleted now. */
export const pastAt = (now: Millis): Past => ({ used: now - keptMs, unused: now - unusedKeptMs })

type Past = { used: Millis; unused: Millis }

export const toQuoteView = ({ quote, digest, signature, uses, used }: QuoteRow): QuoteAnswer => ({
  id: quote.id,
  object: 'quote',
  type: 'counterfoil.quote',
  version: '1',
  model: quote.model,
  max_nusd: Number(quote.max_nusd),
  expires_at: toRfc3339(Number(quote.expires_at)),
  uses,
  uses_left: uses - used,
  quote,
  digest: digest as Hex,
  signature: toHex(signature),
})

export const toQuotedRate = ({ tier, fromInputTokens, meter, price }: RateOf): QuotedRate => ({
  service_tier: tier,
  from_input_tokens: String(fromInputTokens),
  meter,
  price: String(price),
})

export const toRate = (rate: Quote['rates'][number]): RateOf => ({
  tier: rate.service_tier,
  fromInputTokens: Number(rate.from_input_tokens),
  meter: rate.meter,
  price: BigInt(rate.price),
})
