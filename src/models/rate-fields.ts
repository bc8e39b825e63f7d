/** The names of each rate in the configuration, the price list and the API. */

/** The names of rates. All are pico-USD a token, but calls, which are nano-USD each. */
export const rateFields = {
  input_pusd: 'input',
  cache_read_pusd: 'cache_read',
  cache_write_pusd: 'cache_write',
  cache_write_1h_pusd: 'cache_write_1h',
  audio_input_pusd: 'audio_input',
  image_input_pusd: 'image_input',
  output_pusd: 'output',
  reasoning_pusd: 'reasoning',
  audio_output_pusd: 'audio_output',
  image_output_pusd: 'image_output',
  web_search_nusd: 'web_search',
} as const

/** The name of the rate of a meter. */
export const rateFieldOf = (meter: string): keyof typeof rateFields | undefined =>
  (Object.keys(rateFields) as (keyof typeof rateFields)[]).find(
    (field) => rateFields[field] === meter,
  )

/** The rates that a step of a route can cost the operator, that of a request included. */
export const costFields = { ...rateFields, request_nusd: 'request' } as const

/** A price as written: an integer of 0…9e15. */
export type Price = number | bigint

/** Rates by name: `<meter>_pusd`, and nUSD for what is not counted in tokens. */
export type RatesConfig = { -readonly [Field in keyof typeof rateFields]?: Price | undefined }

export type CostConfig = { -readonly [Field in keyof typeof costFields]?: Price | undefined }

/** Rates of a whole run whose input is above so many tokens. */
export type BandConfig = RatesConfig & { above_input_tokens: number }

/** Rates of a run that asks for a tier of service by `service_tier`. */
export type TierConfig = RatesConfig & { name: string }

/** The prices of a model, or what a step of its route costs the operator. */
export type PricesConfig = CostConfig & {
  bands?: BandConfig[] | undefined
  tiers?: TierConfig[] | undefined
}
