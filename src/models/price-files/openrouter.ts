/** Reads OpenRouter's `GET /api/v1/models`: a list of models with a `pricing` object. */
import { type Decimal, isZero } from '../../kernel/decimal.ts'
import { type ExactJson, isExactObject, NumberText } from '../../kernel/exact-json.ts'
import type { ModelKind } from '../meter.ts'
import {
  boundImages,
  collect,
  type PriceFile,
  type PriceFileOptions,
  plainName,
  priceIn,
  type ReadEntry,
  tokensIn,
  type UsdRates,
} from './price-file.ts'

type Entry = { [name: string]: ExactJson }
type Field = keyof UsdRates

/** Our names of its prices. All of them are USD a token, a request or a search. */
const fields: Record<string, Field> = {
  prompt: 'input_pusd',
  completion: 'output_pusd',
  request: 'request_nusd',
  input_cache_read: 'cache_read_pusd',
  input_cache_write: 'cache_write_pusd',
  input_cache_write_1h: 'cache_write_1h_pusd',
  audio: 'audio_input_pusd',
  audio_output: 'audio_output_pusd',
  image_token: 'image_input_pusd',
  image_output: 'image_output_pusd',
  internal_reasoning: 'reasoning_pusd',
  web_search: 'web_search_nusd',
}

/** The only prices that an embedding is billed by. */
const ofEmbeddings: ReadonlySet<Field> = new Set(['input_pusd', 'request_nusd'])

/** @throws Error when it is another file */
export function readOpenrouter(json: ExactJson, wish: PriceFileOptions): PriceFile {
  const data = isExactObject(json) ? json['data'] : undefined
  if (!Array.isArray(data)) throw new Error('it has no list "data" of models')
  return collect(
    data.map((entry) => readEntry(entry, wish)),
    wish,
  )
}

function readEntry(entry: ExactJson, { without }: PriceFileOptions): ReadEntry {
  const id = isExactObject(entry) && typeof entry['id'] === 'string' ? entry['id'] : ''
  if (!isExactObject(entry)) return { id, leftOut: 'no entry of a model' }
  const kind = kindOf(entry)
  if (kind === undefined) return { id, leftOut: 'output that is neither text nor embeddings' }
  const { pricing, name, context_length: context, top_provider: provider } = entry
  if (!isExactObject(pricing)) return { id, leftOut: 'no pricing' }
  if ([pricing['prompt'], pricing['completion']].some(isNegative)) {
    return { id, leftOut: 'a price that varies (-1)' }
  }
  const read = readPricing(pricing, kind, without)
  if ('dimensions' in read) return { id, dimensions: read.dimensions }
  const contextTokens = tokensIn(context)
  const most = isExactObject(provider) ? tokensIn(provider['max_completion_tokens']) : undefined
  if (read.rates.input_pusd === undefined) return { id, leftOut: 'no price of input' }
  if (kind === 'chat' && read.rates.output_pusd === undefined) {
    return { id, leftOut: 'no price of output' }
  }
  if (contextTokens === undefined) return { id, leftOut: 'no context_length' }
  return boundImages({
    ...{ id, name: nameIn(name), upstreamName: id, kind, contextTokens, ...read, tiers: [] },
    maxOutputTokens: kind === 'embedding' ? 0 : (most ?? contextTokens),
    features: kind === 'embedding' ? [] : featuresOf(entry),
    notes: [],
  })
}

const isNegative = (value: ExactJson | undefined): boolean => (priceIn(value)?.digits ?? 0n) < 0n

const nameIn = (name: ExactJson | undefined): string | undefined =>
  typeof name === 'string' ? plainName(name) : undefined

/** A model that writes text, among other things, is one to chat with. */
function kindOf({ architecture }: Entry): ModelKind | undefined {
  const written = isExactObject(architecture) ? architecture['output_modalities'] : undefined
  if (!Array.isArray(written) || written.includes('text')) return 'chat'
  return written.includes('embeddings') ? 'embedding' : undefined
}

function featuresOf({ architecture, supported_parameters: parameters }: Entry): string[] {
  const read = isExactObject(architecture) ? architecture['input_modalities'] : undefined
  const takes = (name: string) => Array.isArray(parameters) && parameters.includes(name)
  return [
    'streaming',
    ...(takes('tools') ? ['tools'] : []),
    ...(Array.isArray(read) && read.includes('image') ? ['vision'] : []),
    ...(takes('reasoning') ? ['reasoning'] : []),
    ...(takes('structured_outputs') ? ['json_schema'] : []),
  ]
}

type EntryRates = { rates: UsdRates; bands: { aboveInputTokens: number; rates: UsdRates }[] }

/** The rates, or the dimensions that have no meter here. */
function readPricing(
  pricing: Entry,
  kind: ModelKind,
  without: ReadonlySet<string>,
): EntryRates | { dimensions: string[] } {
  const unknown: string[] = []
  const read: EntryRates = { rates: {}, bands: [] }
  const fill = (rates: UsdRates, prices: Entry, path: string): void => {
    for (const [key, value] of Object.entries(prices)) {
      const name = `${path}${key}`
      const price = priceIn(value)
      if (without.has(name) || value === null || key === 'overrides') continue
      const isBase = key === 'prompt' || key === 'completion'
      if (price && isZero(price) && !(isBase && path === '')) continue
      const field = fieldOf(key, kind, price)
      if (!field || !price || price.digits < 0n) unknown.push(name)
      else rates[field] = price
    }
  }
  fill(read.rates, pricing, '')
  if (kind === 'embedding') delete read.rates.output_pusd
  const { overrides } = pricing
  const isLeft = overrides === undefined || overrides === null || without.has('overrides')
  for (const override of isLeft ? [] : Array.isArray(overrides) ? overrides : [null]) {
    const { min_prompt_tokens: least, ...prices } = isExactObject(override) ? override : {}
    const from = least instanceof NumberText ? Number(least.text) : Number.NaN
    if (!Number.isInteger(from) || from < 2) {
      unknown.push('overrides')
      continue
    }
    // "At least n" is "above n - 1".
    const band = { aboveInputTokens: from - 1, rates: {} }
    fill(band.rates, prices, 'overrides.')
    if (band.rates && 'request_nusd' in band.rates) unknown.push('overrides.request')
    if (Object.keys(band.rates).length > 0) read.bands.push(band)
  }
  read.bands.sort((a, b) => a.aboveInputTokens - b.aboveInputTokens)
  return unknown.length > 0 ? { dimensions: [...new Set(unknown)] } : read
}

function fieldOf(key: string, kind: ModelKind, price: Decimal | undefined): Field | undefined {
  const field = Object.hasOwn(fields, key) ? fields[key] : undefined
  if (!field || kind === 'chat' || ofEmbeddings.has(field)) return field
  // OpenRouter writes a completion of 0 for embeddings.
  return price && isZero(price) ? field : undefined
}
