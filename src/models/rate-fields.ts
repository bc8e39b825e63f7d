/** The name and the meaning of each rate in the configuration, the price list and the API. */

import { inputClasses } from './meter.ts'

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

type RateField = keyof typeof rateFields

/** The unit that each rate is the price of, in words, and an example. */
const rateWords: Readonly<Record<RateField, readonly [about: string, example: number]>> = {
  input_pusd: ['Read.', 150_000],
  cache_read_pusd: ['Read from a cache.', 15_000],
  cache_write_pusd: ['Written to a cache.', 187_500],
  cache_write_1h_pusd: ['Written to a cache of an hour.', 300_000],
  audio_input_pusd: ['Of sound.', 150_000],
  image_input_pusd: ['Of an image.', 150_000],
  output_pusd: ['Written.', 600_000],
  reasoning_pusd: ['Of reasoning; part of the output when absent.', 600_000],
  audio_output_pusd: ['Of sound written; part of the output when absent.', 600_000],
  image_output_pusd: ['Of an image written; part of the output when absent.', 600_000],
  web_search_nusd: ['Of a search that the model server makes.', 10_000_000],
}

/** A value for each rate, as `make` makes it of the meaning and the example. */
export const ofEachRate = <V>(
  make: (field: RateField, about: string, example: number) => V,
): Record<RateField, V> =>
  Object.fromEntries(
    Object.entries(rateWords).map(([field, [about, example]]) => [
      field,
      make(field as RateField, about, example),
    ]),
  ) as Record<RateField, V>

/** The meaning of a rate where it stands alone. */
export function rateMeaning(field: RateField, about: string): string {
  const price = `Price ${isPerToken(field) ? 'of a token ' : ''}${about[0]?.toLowerCase()}`
  const isClass = (inputClasses as readonly string[]).includes(rateFields[field])
  return `${price}${about.slice(1)}${isClass ? ' Default: the highest rate of the input.' : ''}`
}

export const isPerToken = (field: string): boolean => field.endsWith('_pusd')

/** The name of the rate of a meter. */
export const rateFieldOf = (meter: string): RateField | undefined =>
  (Object.keys(rateFields) as RateField[]).find((field) => rateFields[field] === meter)

/** The rates that a step of a route can cost the operator, that of a request included. */
export const costFields = { ...rateFields, request_nusd: 'request' } as const

/** The name of a price in the configuration; its end is the unit. */
export type PriceField = keyof typeof costFields

export const isPriceField = (name: string): name is PriceField => name in costFields

/** A price as written: an integer of 0…9e15. */
export type Price = number | bigint

/** Rates by name: `<meter>_pusd`, and nUSD for what is not counted in tokens. */
export type RatesConfig = { [Field in RateField]?: Price | undefined }

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
