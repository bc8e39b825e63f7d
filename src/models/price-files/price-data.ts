/** Reads the prices that are embedded: `@pydantic/genai-prices`, MIT, pinned by the lockfile. */
import type { MatchLogic, ModelInfo, ModelPrice } from '@pydantic/genai-prices'
import type { Millis } from '../../kernel/clock.ts'
import { compareDecimals, type Decimal, parseDecimal } from '../../kernel/decimal.ts'
import { ignoredNote, type OfferedModel, type UsdRates } from './price-file.ts'

type Field = keyof UsdRates
type PriceUnit = { field: Field; places: number }

/** Our names of its units: USD a million tokens, a thousand requests, a thousand searches. */
const units: ReadonlyMap<string, PriceUnit> = new Map([
  ['input_mtok', { field: 'input_pusd', places: 6 }],
  ['output_mtok', { field: 'output_pusd', places: 6 }],
  ['cache_read_mtok', { field: 'cache_read_pusd', places: 6 }],
  ['cache_write_mtok', { field: 'cache_write_pusd', places: 6 }],
  ['cache_write_1h_mtok', { field: 'cache_write_1h_pusd', places: 6 }],
  ['input_audio_mtok', { field: 'audio_input_pusd', places: 6 }],
  ['input_image_mtok', { field: 'image_input_pusd', places: 6 }],
  ['output_audio_mtok', { field: 'audio_output_pusd', places: 6 }],
  ['output_image_mtok', { field: 'image_output_pusd', places: 6 }],
  ['output_reasoning_mtok', { field: 'reasoning_pusd', places: 6 }],
  ['requests_kcount', { field: 'request_nusd', places: 3 }],
  ['web_searches_kcount', { field: 'web_search_nusd', places: 3 }],
])

/**
 * Units that no request here incurs (tools that the provider runs, films), and discounts on a class
 * that is charged at the rate of the whole class instead, which is dearer.
 */
const unused: ReadonlySet<string> = new Set([
  'storage_searches_kcount',
  'input_video_mtok',
  'cache_audio_read_mtok',
  'cache_image_read_mtok',
])

/** The published facts about a model: its prices, and its context if that is known. */
export type KnownPrices = Pick<OfferedModel, 'rates' | 'bands' | 'notes'> & {
  name: string | undefined
  contextTokens: number | undefined
}

/** Prices of a model, or the units among them that have no meter here. */
export type PriceFinding = KnownPrices | { dimensions: string[] }

/**
 * The data of one provider, by the names of its models at `now`. Of prices that depend on the hour
 * it takes the dearest, so that no hour is sold below cost.
 */
export async function openPriceData(
  providerId: string,
  now: Millis,
): Promise<(model: string) => PriceFinding | undefined> {
  // Half a megabyte that a running server never needs.
  const { findProvider } = await import('@pydantic/genai-prices')
  const models = findProvider({ providerId })?.models ?? []
  return (model) => {
    const info = models.find(({ match }) => isMatch(match, model.toLowerCase()))
    return info && readModel(info, now)
  }
}

function isMatch(match: MatchLogic, model: string): boolean {
  if ('or' in match) return match.or.some((one) => isMatch(one, model))
  if ('and' in match) return match.and.every((one) => isMatch(one, model))
  if ('equals' in match) return model === match.equals.toLowerCase()
  if ('starts_with' in match) return model.startsWith(match.starts_with.toLowerCase())
  if ('ends_with' in match) return model.endsWith(match.ends_with.toLowerCase())
  if ('contains' in match) return model.includes(match.contains.toLowerCase())
  return new RegExp(match.regex, 'i').test(model)
}

function readModel(info: ModelInfo, now: Millis): PriceFinding {
  const { name, context_window: contextTokens, prices } = info
  const known: KnownPrices = { name, contextTokens, rates: {}, bands: [], notes: [] }
  const current = pricesAt(prices, now)
  if (current.length > 1) known.notes.push('Its price depends on the hour: the dearest is taken')
  const dimensions = new Set<string>()
  for (const price of current) {
    for (const [unit, value] of Object.entries(price)) {
      if (value === undefined || value === 0) continue
      if (unused.has(unit)) known.notes.push(ignoredNote(unit))
      else if (!addPrice(known, units.get(unit), value)) dimensions.add(unit)
    }
  }
  if (dimensions.size > 0) return { dimensions: [...dimensions] }
  completeBands(known)
  return known
}

/** The prices in force: the newest that has begun, and those of every hour of the day. */
function pricesAt(prices: ModelInfo['prices'], now: Millis): ModelPrice[] {
  if (!Array.isArray(prices)) return [prices]
  const begun = prices.filter(({ constraint }) => {
    if (constraint?.type === 'time_of_date') return false
    return constraint === undefined || Date.parse(constraint.start_date) <= now
  })
  const hours = prices.filter(({ constraint }) => constraint?.type === 'time_of_date')
  const newest = begun.at(-1)
  return [...(newest ? [newest] : []), ...hours].map((one) => one.prices)
}

/** Adds a price unless a dearer one is there. @returns false for one that has no meter here */
function addPrice(
  known: KnownPrices,
  unit: PriceUnit | undefined,
  value: NonNullable<ModelPrice[string]>,
): boolean {
  if (!unit) return false
  const { base, tiers } = typeof value === 'number' ? { base: value, tiers: [] } : value
  if (!raise(known.rates, unit, base)) return false
  for (const { start, price } of tiers) {
    let band = known.bands.find(({ aboveInputTokens }) => aboveInputTokens === start)
    if (!band) {
      band = { aboveInputTokens: start, rates: {} }
      known.bands.push(band)
    }
    // A fee for each request has no band here.
    if (unit.field === 'request_nusd' || !raise(band.rates, unit, price)) return false
  }
  return true
}

function raise(rates: UsdRates, { field, places }: PriceUnit, price: number): boolean {
  // A number prints as the shortest decimal that names it, which is what the data says.
  const decimal = parseDecimal(String(price))
  if (!decimal || decimal.digits < 0n) return false
  const usd: Decimal = { digits: decimal.digits, scale: decimal.scale + places }
  const present = rates[field]
  if (!present || compareDecimals(present, usd) < 0) rates[field] = usd
  return true
}

/** A band names every rate of its model: a class that it leaves out may be the dearer one. */
function completeBands({ rates, bands }: KnownPrices): void {
  bands.sort((a, b) => a.aboveInputTokens - b.aboveInputTokens)
  let below = rates
  for (const band of bands) {
    const { request_nusd: _, ...inherited } = below
    band.rates = { ...inherited, ...band.rates }
    below = band.rates
  }
}
