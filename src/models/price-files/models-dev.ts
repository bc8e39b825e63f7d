/** Reads models.dev's `api.json`: providers, each with models that have a cost and limits. */
import { isZero } from '../../kernel/decimal.ts'
import { type ExactJson, isExactObject } from '../../kernel/exact-json.ts'
import {
  boundImages,
  collect,
  type OfferedModel,
  type PriceFile,
  type PriceFileOptions,
  priceIn,
  type ReadEntry,
  tokensIn,
  type UsdRates,
} from './price-file.ts'

type Entry = { [name: string]: ExactJson }

/** Our names of its prices, all in USD a million tokens. */
const fields: Readonly<Record<string, keyof UsdRates>> = {
  input: 'input_pusd',
  output: 'output_pusd',
  cache_read: 'cache_read_pusd',
  cache_write: 'cache_write_pusd',
  input_audio: 'audio_input_pusd',
  output_audio: 'audio_output_pusd',
  reasoning: 'reasoning_pusd',
}

const million = 6
const bandName = /^context_over_(\d+)k$/

/** @throws Error when it is another file */
export function readModelsDev(json: ExactJson, wish: PriceFileOptions): PriceFile {
  if (!isExactObject(json)) throw new Error('it is not an object of providers by their ids')
  const entries = Object.entries(json).flatMap(([provider, entry]) => {
    const models = isExactObject(entry) ? entry['models'] : undefined
    return isExactObject(models)
      ? Object.entries(models).map(([name, model]) => readEntry(provider, name, model, wish))
      : []
  })
  if (entries.length === 0) throw new Error('none of its providers has "models"')
  return collect(entries, wish)
}

function readEntry(
  provider: string,
  name: string,
  model: ExactJson,
  { without }: PriceFileOptions,
): ReadEntry {
  const id = `${provider}/${name}`
  if (!isExactObject(model)) return { id, leftOut: 'no entry of a model' }
  const { cost, limit, modalities } = model
  const written = isExactObject(modalities) ? modalities['output'] : undefined
  if (Array.isArray(written) && !written.includes('text')) {
    return { id, leftOut: 'output that is not text' }
  }
  if (!isExactObject(cost)) return { id, leftOut: 'no cost' }
  const limits = isExactObject(limit) ? limit : {}
  const context = tokensIn(limits['context'])
  const most = tokensIn(limits['output'])
  if (context === undefined) return { id, leftOut: 'no limit.context' }
  const dimensions: string[] = []
  const rates = ratesIn(cost, without, '', dimensions)
  if (rates.input_pusd === undefined) return { id, leftOut: 'no price of input' }
  // A model without a limit of output makes vectors.
  const kind = most === undefined || /embed/.test(name) ? 'embedding' : 'chat'
  if (kind === 'chat' && rates.output_pusd === undefined) {
    return { id, leftOut: 'no price of output' }
  }
  const bands = bandsIn(cost, rates, without, dimensions)
  if (dimensions.length > 0) return { id, dimensions }
  const offered: OfferedModel = {
    ...{ id, name: nameIn(model), upstreamName: name, kind, contextTokens: context },
    maxOutputTokens: kind === 'chat' ? Math.min(most ?? context, context) : 0,
    features: kind === 'chat' ? featuresOf(model) : [],
    ...{ rates, bands: kind === 'chat' ? bands : [], tiers: [], notes: [] },
  }
  if (kind === 'embedding') delete offered.rates.output_pusd
  return boundImages(offered)
}

function nameIn({ name }: Entry): string | undefined {
  return typeof name === 'string' && /^\P{Cc}{1,200}$/u.test(name) ? name : undefined
}

/** Prices without a meter go to `dimensions`, by their path in the file. */
function ratesIn(
  cost: Entry,
  without: ReadonlySet<string>,
  path: string,
  dimensions: string[],
): UsdRates {
  const rates: UsdRates = {}
  for (const [name, value] of Object.entries(cost)) {
    const price = priceIn(value)
    if (without.has(`${path}${name}`) || bandName.test(name)) continue
    // `tiers` repeats the bands in another form.
    if (name === 'tiers' && Object.keys(cost).some((one) => bandName.test(one))) continue
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined
    const isBase = name === 'input' || name === 'output'
    if (price && isZero(price) && !isBase) continue
    if (!field || !price || price.digits < 0n) dimensions.push(`${path}${name}`)
    else rates[field] = { digits: price.digits, scale: price.scale + million }
  }
  return rates
}

/** Each band names every rate: a class that it leaves out may be the dearer one. */
function bandsIn(
  cost: Entry,
  base: UsdRates,
  without: ReadonlySet<string>,
  dimensions: string[],
): OfferedModel['bands'] {
  const bands: OfferedModel['bands'] = []
  for (const [name, value] of Object.entries(cost)) {
    const thousands = bandName.exec(name)?.[1]
    if (thousands === undefined || without.has(name)) continue
    if (!isExactObject(value)) dimensions.push(name)
    else {
      const rates = ratesIn(value, without, `${name}.`, dimensions)
      bands.push({ aboveInputTokens: Number(thousands) * 1000, rates })
    }
  }
  bands.sort((a, b) => a.aboveInputTokens - b.aboveInputTokens)
  let below = base
  for (const band of bands) {
    band.rates = { ...below, ...band.rates }
    below = band.rates
  }
  return bands
}

function featuresOf(model: Entry): string[] {
  const { modalities } = model
  const read = isExactObject(modalities) ? modalities['input'] : undefined
  return [
    'streaming',
    ...(model['tool_call'] === true ? ['tools'] : []),
    ...(Array.isArray(read) && read.includes('image') ? ['vision'] : []),
    ...(model['reasoning'] === true ? ['reasoning'] : []),
    ...(model['structured_output'] === true ? ['json_schema'] : []),
  ]
}
