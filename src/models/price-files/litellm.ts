/** Reads LiteLLM's `model_prices_and_context_window.json`: model id → prices, limits, flags. */
import { compareDecimals, type Decimal, isZero } from '../../kernel/decimal.ts'
import { type ExactJson, isExactObject, NumberText } from '../../kernel/exact-json.ts'
import type { ModelKind } from '../meter.ts'
import {
  boundImages,
  collect,
  hasRates,
  ignoredNote,
  type OfferedModel,
  type PriceFile,
  type PriceFileOptions,
  priceIn,
  type ReadEntry,
  tokensIn,
  type UsdRates,
} from './price-file.ts'

type Entry = { [name: string]: ExactJson }
type Field = keyof UsdRates

/** Our names of its prices. */
const fields: Record<string, Field> = {
  input_cost_per_token: 'input_pusd',
  output_cost_per_token: 'output_pusd',
  cache_read_input_token_cost: 'cache_read_pusd',
  input_cost_per_token_cache_hit: 'cache_read_pusd',
  cache_creation_input_token_cost: 'cache_write_pusd',
  cache_creation_input_token_cost_above_1hr: 'cache_write_1h_pusd',
  input_cost_per_audio_token: 'audio_input_pusd',
  input_cost_per_image_token: 'image_input_pusd',
  output_cost_per_reasoning_token: 'reasoning_pusd',
  output_cost_per_audio_token: 'audio_output_pusd',
  output_cost_per_image_token: 'image_output_pusd',
  input_cost_per_request: 'request_nusd',
}

/** The only prices that an embedding is billed by. */
const ofEmbeddings: ReadonlySet<Field> = new Set(['input_pusd', 'request_nusd'])

/** `_above_200k_tokens`, `_priority`, or both: `…_above_272k_tokens_priority`. */
const variant = /^(.+?)(?:_above_(\d+)k_tokens)?(?:_(priority|flex|batches))?$/

/** Limits, not prices. Any other unknown number may be a price. */
const isLimit = (name: string): boolean =>
  !isCost(name) && /^max_|_tokens$|^(rpm|tpm|rpd)$|_size$|_per_prediction$/.test(name)

/**
 * Prices that no request here incurs: of the batch interface, of a faster mode or another region
 * (members that are refused or stay behind), of tools that the provider runs and that are refused
 * by name, and of storage.
 */
const isNeverAskedFor = (name: string, unused: RegExp): boolean =>
  unused.test(name) ||
  /^provider_specific_entry\.(fast\w*|batch\w*|\w*(geo|region)\w*|[a-z]{2}([_-]\w+)?)$/.test(
    name,
  ) ||
  /_batch(es)?$/.test(name) ||
  /^(regional|region|fast|geo|data_residency)_.*(multiplier|uplift)/.test(name) ||
  /^(code_interpreter|file_search|vector_store|container)_cost_per_/.test(name)

/** The end of a price of whole pictures, or of moving ones, by size, quality or band. */
const perWhole = '(image|pixel|video_\\w+|audio_per_\\w+)(_above_\\w+)?$'

/**
 * Prices of what a model neither reads nor writes here: requests hold no video and no sound by the
 * second, an embedding reads texts alone, and a model of which the file says what it writes makes
 * nothing else.
 */
function unusedIn(entry: Entry, kind: ModelKind): RegExp {
  const written = entry['supported_output_modalities']
  const isOfTexts = Array.isArray(written) && written.every((one) => one === 'text')
  const read = kind === 'embedding' ? `input_cost_per_${perWhole}` : readNever
  return new RegExp(isOfTexts ? `^(${read}|output_cost_per_${perWhole})` : `^${read}`)
}

const readNever = 'input_cost_per_(video|audio)_per_\\w+$'

const isCost = (name: string): boolean => /cost|price|pricing/.test(name)

/** Entries beside the models. */
const notes: ReadonlySet<string> = new Set(['sample_spec', 'fallback_generalizations'])

/** @throws Error when it is another file */
export function readLitellm(json: ExactJson, wish: PriceFileOptions): PriceFile {
  if (!isExactObject(json)) throw new Error('it is not an object of models by their ids')
  const entries = Object.entries(json).filter(([id]) => !notes.has(id))
  return collect(
    entries.map(([id, entry]) =>
      isExactObject(entry) ? readEntry(id, entry, wish) : { id, leftOut: 'no entry of a model' },
    ),
    wish,
  )
}

function readEntry(id: string, entry: Entry, { without }: PriceFileOptions): ReadEntry {
  const { mode } = entry
  const kind = typeof mode === 'string' ? kinds.get(mode) : undefined
  if (kind === undefined) {
    return { id, leftOut: typeof mode === 'string' ? `mode ${mode}` : 'no mode' }
  }
  const model: OfferedModel = {
    ...{ id, name: undefined, upstreamName: upstreamNameOf(id, entry), kind },
    ...limitsIn(entry, kind),
    features: kind === 'chat' ? featuresOf(entry) : [],
    rates: {},
    bands: [],
    tiers: [],
    notes: mode === 'responses' ? [ofResponses] : [],
  }
  const dimensions = readPrices(model, entry, without)
  if (dimensions.length > 0) return { id, dimensions }
  if (kind === 'embedding') delete model.rates.output_pusd
  const missing = missingIn(model)
  return missing === undefined ? boundImages(model) : { id, leftOut: missing }
}

/** The kinds of models by the modes of the file. */
const kinds: ReadonlyMap<string, ModelKind> = new Map([
  ['chat', 'chat'],
  ['responses', 'chat'],
  ['embedding', 'embedding'],
])

/** The note on a model that no other protocol serves. */
export const ofResponses =
  'Served by the Responses API alone: its upstream needs kind = "responses"'

type Limits = Pick<OfferedModel, 'contextTokens' | 'totalTokens' | 'maxOutputTokens'>

/**
 * `max_input_tokens` is the whole context of some models and the context less the output of others.
 * So that no run is larger than its hold, both limits are taken as limits beside each other; two
 * that add up to whole hundreds of thousands (272,000 and 128,000) are a context.
 */
function limitsIn(entry: Entry, kind: ModelKind): Limits {
  const most = tokensIn(entry['max_tokens'])
  const input = tokensIn(entry['max_input_tokens']) ?? most ?? 0
  if (kind === 'embedding') return { contextTokens: input, maxOutputTokens: 0 }
  const maxOutputTokens = tokensIn(entry['max_output_tokens']) ?? most ?? 0
  const total = input + maxOutputTokens
  if (input === 0 || maxOutputTokens === 0 || total > 1_000_000_000) {
    return { contextTokens: input, maxOutputTokens }
  }
  return total % 100_000 === 0
    ? { contextTokens: total, maxOutputTokens }
    : { contextTokens: input, totalTokens: total, maxOutputTokens }
}

function missingIn({ kind, rates, contextTokens, maxOutputTokens }: OfferedModel) {
  if (rates.input_pusd === undefined) return 'no price of input'
  if (kind === 'chat' && rates.output_pusd === undefined) return 'no price of output'
  if (contextTokens === 0) return 'no max_input_tokens'
  return kind === 'chat' && maxOutputTokens === 0 ? 'no max_output_tokens' : undefined
}

/** LiteLLM takes the name of the provider off before it asks it. */
function upstreamNameOf(id: string, { litellm_provider: provider }: Entry): string {
  const prefix = typeof provider === 'string' ? `${provider}/` : undefined
  return prefix !== undefined && id.startsWith(prefix) ? id.slice(prefix.length) : id
}

const flags: [flag: string, feature: string][] = [
  ['supports_function_calling', 'tools'],
  ['supports_vision', 'vision'],
  ['supports_reasoning', 'reasoning'],
  ['supports_response_schema', 'json_schema'],
]

const featuresOf = (entry: Entry): string[] => [
  'streaming',
  ...flags.flatMap(([flag, feature]) => (entry[flag] === true ? [feature] : [])),
]

/** `price` is undefined where the file has something else than a decimal. */
type NamedPrice = { name: string; price: Decimal | undefined }

/** Every number of an entry that is or may be a price, those of inner objects by their path. */
function* pricesIn(entry: Entry, path = ''): Generator<NamedPrice> {
  for (const [key, value] of Object.entries(entry)) {
    const name = `${path}${key}`
    if (path === '' && separate.has(key)) continue
    if (isExactObject(value)) yield* pricesIn(value, `${name}.`)
    if (Array.isArray(value)) {
      yield* pricesIn(Object.fromEntries(value.map((one, i) => [`${i}`, one])), `${name}.`)
    }
    const isPrice = value instanceof NumberText || (typeof value === 'string' && isCost(key))
    if (!isPrice || isLimit(key)) continue
    const price = priceIn(value)
    if (!price || !isZero(price)) yield { name, price }
  }
}

const separate: ReadonlySet<string> = new Set([
  'metadata',
  'comment',
  'search_context_cost_per_query',
  'tiered_pricing',
])

/** A price of a tier of service inside of a band. */
type TierInBand = { name: string; price: Decimal; field: Field; above: number; tier: string }

/** Fills in the rates of a model; returns the dimensions that have no meter here. */
function readPrices(model: OfferedModel, entry: Entry, without: ReadonlySet<string>): string[] {
  const unknown: string[] = []
  /** Tiers with a price that has no meter: a request for one without rates is refused. */
  const dropped = new Map<string, string>()
  const both: TierInBand[] = []
  for (const name of ['input_cost_per_token', 'output_cost_per_token'] as const) {
    const price = priceIn(entry[name])
    const field = fields[name]
    if (price && field) model.rates[field] = price
  }
  const unused = unusedIn(entry, model.kind)
  for (const { name, price } of pricesIn(entry)) {
    const [, base = '', above, tier] = variant.exec(name) ?? []
    const field = Object.hasOwn(fields, base) ? fields[base] : undefined
    if (without.has(name) || (tier !== undefined && without.has(tier))) continue
    if (isNeverAskedFor(name, unused)) {
      model.notes.push(ignoredNote(name))
      continue
    }
    const isBilled = model.kind === 'chat' || (field !== undefined && ofEmbeddings.has(field))
    const isOfRun = field === 'request_nusd' && (above || tier)
    if (!field || !isBilled || !price || price.digits < 0n || isOfRun) {
      if (tier) dropped.set(tier, name)
      else unknown.push(name)
    } else if (above && tier) both.push({ name, price, field, above: Number(above) * 1000, tier })
    else if (above) setDearer(bandOf(model, Number(above) * 1000), field, price)
    else if (tier) setDearer(tierOf(model, tier), field, price)
    else setDearer(model.rates, field, price)
  }
  unknown.push(...readSearches(model, entry, without), ...readRanges(model, entry, without))
  for (const one of both) if (!isDearerOfBoth(model, one)) dropped.set(one.tier, one.name)
  model.bands = model.bands.filter(hasRates).sort((a, b) => a.aboveInputTokens - b.aboveInputTokens)
  model.tiers = model.tiers.filter((tier) => hasRates(tier) && !dropped.has(tier.name))
  for (const [tier, name] of dropped) {
    model.notes.push(`Left out, so that no request can ask for it: the tier ${tier}, for ${name}`)
  }
  return unknown
}

/** A tier inside of a band costs the dearer of both here; another price of it has no meter. */
function isDearerOfBoth(model: OfferedModel, { price, field, above, tier }: TierInBand): boolean {
  const [band, other] = [bandOf(model, above)[field], tierOf(model, tier)[field]]
  const dearer = !band || (other && compareDecimals(other, band) > 0) ? other : band
  return dearer !== undefined && compareDecimals(dearer, price) === 0
}

/** Two names of one rate: the dearer holds. */
function setDearer(rates: UsdRates, field: Field, price: Decimal): void {
  const known = rates[field]
  if (!known || compareDecimals(price, known) > 0) rates[field] = price
}

function bandOf({ bands }: OfferedModel, aboveInputTokens: number): UsdRates {
  const known = bands.find((band) => band.aboveInputTokens === aboveInputTokens)
  if (known) return known.rates
  const made = { aboveInputTokens, rates: {} }
  bands.push(made)
  return made.rates
}

function tierOf({ tiers }: OfferedModel, name: string): UsdRates {
  const known = tiers.find((tier) => tier.name === name)
  if (known) return known.rates
  const made = { name, rates: {} }
  tiers.push(made)
  return made.rates
}

/** A search has one price here: the dearest of its sizes. */
function readSearches(model: OfferedModel, entry: Entry, without: ReadonlySet<string>): string[] {
  const name = 'search_context_cost_per_query'
  const sizes = entry[name]
  if (sizes === undefined || sizes === null || without.has(name)) return []
  const prices = isExactObject(sizes) ? Object.values(sizes).map(priceIn) : [undefined]
  for (const price of prices) {
    if (!price || price.digits < 0n || model.kind === 'embedding') return [name]
    if (!isZero(price)) setDearer(model.rates, 'web_search_nusd', price)
  }
  return []
}

/** `tiered_pricing`: rates by the range of the input, the first of them those of the model. */
function readRanges(model: OfferedModel, entry: Entry, without: ReadonlySet<string>): string[] {
  const name = 'tiered_pricing'
  const ranges = entry[name]
  if (ranges === undefined || ranges === null || without.has(name)) return []
  if (!Array.isArray(ranges)) return [name]
  const unknown: string[] = []
  for (const range of ranges) {
    const span = isExactObject(range) ? range['range'] : undefined
    const first = Array.isArray(span) ? span[0] : undefined
    const from = first instanceof NumberText ? Number(first.text) : Number.NaN
    if (!isExactObject(range) || !Number.isInteger(from) || from < 0) return [name]
    const rates = from === 0 ? model.rates : bandOf(model, from)
    for (const [key, value] of Object.entries(range)) {
      const field = Object.hasOwn(fields, key) ? fields[key] : undefined
      const price = priceIn(value)
      if (key === 'range' || (price && isZero(price) && key !== 'input_cost_per_token')) continue
      if (!field || !price || price.digits < 0n) unknown.push(`${name}.${key}`)
      else setDearer(rates, field, price)
    }
  }
  return [...new Set(unknown)]
}
