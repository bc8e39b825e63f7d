/** Turns a model of a price file into an entry of the configuration, with or without a markup. */
import {
  addDecimals,
  type Decimal,
  multiplyDecimals,
  parseDecimal,
  roundUp,
} from '../../kernel/decimal.ts'
import { maxNusd } from '../../kernel/money.ts'
import type { OfferedModel, UsdRates } from './price-file.ts'

/** A value of the configuration file. */
export type TomlValue = string | bigint | boolean | readonly TomlValue[] | TomlTable
export type TomlTable = { readonly [name: string]: TomlValue }

/** One `[[models]]`. */
export type ModelEntry = TomlTable & { readonly id: string }

export type EntryOptions = {
  /** Routes go there; entries have none without it. */
  upstream: string | undefined
  /** The sale price is the cost times this; undefined to sell at the price of the file. */
  factor: Decimal | undefined
}

/** An entry, how many rates it has, and how many of them were rounded up. */
export type PricedEntry = { entry: ModelEntry; rates: number; rounded: number }

/** `8%` as 1.08; undefined for anything but a percentage of 0…1000. */
export function readMarkup(text: string): Decimal | undefined {
  const match = /^(\d{1,4}(?:\.\d{1,9})?) ?%$/.exec(text.trim())
  const percent = match ? parseDecimal(match[1] ?? '') : undefined
  if (!percent || percent.digits > 1000n * 10n ** BigInt(percent.scale)) return undefined
  return addDecimals({ digits: 1n, scale: 0 }, { ...percent, scale: percent.scale + 2 })
}

/** @throws Error when a price is beyond what one can be here */
export function toEntry(model: OfferedModel, { upstream, factor }: EntryOptions): PricedEntry {
  const count = { rates: 0, rounded: 0 }
  const sold = pricesOf(model, factor, count)
  const cost = factor ? pricesOf(model, undefined, { rates: 0, rounded: 0 }) : undefined
  const to = `${upstream}:${model.upstreamName}`
  const { bands, tiers, ...rates } = sold
  const entry: ModelEntry = {
    id: model.id,
    ...(model.name === undefined ? {} : { name: model.name }),
    kind: model.kind,
    context_tokens: BigInt(model.contextTokens),
    ...(model.totalTokens === undefined ? {} : { total_tokens_max: BigInt(model.totalTokens) }),
    ...(model.kind === 'chat' ? { max_output_tokens: BigInt(model.maxOutputTokens) } : {}),
    ...rates,
    ...(model.imageTokensMax === undefined
      ? {}
      : { image_tokens_max: BigInt(model.imageTokensMax) }),
    ...(model.features.length === 0 ? {} : { features: model.features }),
    ...(upstream === undefined ? {} : { route: cost ? [{ to, cost }] : [to] }),
    ...(bands ? { bands } : {}),
    ...(tiers ? { tiers } : {}),
  }
  return { entry, ...count }
}

type Count = { rates: number; rounded: number }
type Prices = TomlTable & { readonly bands?: TomlValue; readonly tiers?: TomlValue }

function pricesOf(
  { rates, bands, tiers }: OfferedModel,
  factor: Decimal | undefined,
  count: Count,
): Prices {
  const write = (some: UsdRates) => writeRates(some, factor, count)
  return {
    ...write(rates),
    ...(bands.length === 0
      ? {}
      : {
          bands: bands.map((band) => ({
            above_input_tokens: BigInt(band.aboveInputTokens),
            ...write(band.rates),
          })),
        }),
    ...(tiers.length === 0
      ? {}
      : { tiers: tiers.map((tier) => ({ name: tier.name, ...write(tier.rates) })) }),
  }
}

function writeRates(rates: UsdRates, factor: Decimal | undefined, count: Count): TomlTable {
  return Object.fromEntries(
    Object.entries(rates).map(([field, usd]) => {
      const price = factor ? multiplyDecimals(usd, factor) : usd
      const { value, isRounded } = roundUp(price, field.endsWith('_nusd') ? 9 : 12)
      if (value > maxNusd) throw new Error(`${field} is above 9e15`)
      count.rates += 1
      if (isRounded) count.rounded += 1
      return [field, value]
    }),
  )
}
