/** Reads the list of models of a provider: names, limits, features and prices that it has. */
import { type Decimal, parseDecimal } from '../../kernel/decimal.ts'
import {
  type ExactJson,
  isExactObject,
  NumberText,
  parseExactJson,
} from '../../kernel/exact-json.ts'
import type { ModelKind } from '../meter.ts'
import { plainName, priceIn, tokensIn, type UsdRates } from '../price-files/price-file.ts'
import type { ListPrices, ModelListShape } from './provider.ts'

/** A model as its provider lists it. */
export type ListedModel = {
  /** The name that requests have for it. */
  id: string
  name: string | undefined
  kind: ModelKind
  contextTokens: number | undefined
  maxOutputTokens: number | undefined
  features: string[]
  /** Undefined where the list has no price of it. */
  rates: UsdRates | undefined
}

type Entry = { [name: string]: ExactJson }

/** The members of each shape that hold its list and the id of an entry. */
const shapes: Record<
  Exclude<ModelListShape, 'openrouter'>,
  { list: string | undefined; id: string }
> = {
  openai: { list: 'data', id: 'id' },
  anthropic: { list: 'data', id: 'id' },
  google: { list: 'models', id: 'name' },
  cohere: { list: 'models', id: 'name' },
  github: { list: undefined, id: 'id' },
}

/**
 * The models of a list, and the cursor of its next page where it has one.
 * @throws Error when the text is not a list of this shape
 */
export function readModelList(
  text: string,
  shape: keyof typeof shapes,
  prices?: ListPrices,
): { models: ListedModel[]; next: string | undefined } {
  const json = parseExactJson(text)
  const { list, id } = shapes[shape]
  // Some servers of OpenAI's shape leave the object around the list out.
  const found = list !== undefined && isExactObject(json) ? json[list] : json
  if (!Array.isArray(found)) throw new Error('it is not a list of models')
  const models = found.flatMap((entry) => {
    const model = isExactObject(entry) ? readEntry(entry, id, prices) : undefined
    return model ? [model] : []
  })
  return { models, next: cursorOf(json) }
}

/** The last id of a page of Anthropic's, or the token of Google's and Cohere's. */
function cursorOf(json: ExactJson): string | undefined {
  if (!isExactObject(json)) return undefined
  const { has_more: more, last_id: last, nextPageToken: google, next_page_token: cohere } = json
  const next = more === true ? last : (google ?? cohere)
  return typeof next === 'string' && next !== '' ? next : undefined
}

function readEntry(entry: Entry, idName: string, prices?: ListPrices): ListedModel | undefined {
  const named = entry[idName]
  const id = typeof named === 'string' ? named.replace(/^models\//, '') : ''
  const kind = kindOf(entry, id)
  if (!/^[\w.:@/-]{1,128}$/.test(id) || kind === undefined) return undefined
  const facts = flatten(entry)
  return {
    ...{ id, name: nameOf(entry), kind, features: kind === 'chat' ? featuresOf(facts) : [] },
    contextTokens: limitIn(facts, contextNames),
    maxOutputTokens: limitIn(facts, outputNames),
    rates: prices && ratesIn(entry, prices),
  }
}

function nameOf(entry: Entry): string | undefined {
  const name = entry['display_name'] ?? entry['displayName'] ?? entry['name']
  return typeof name === 'string' && !name.includes('/') ? plainName(name) : undefined
}

const chatTypes = /^(chat|language|text|llm|model|base|code|text-generation|chat-completion)$/

/** Undefined for a model of another kind, such as one that draws pictures. */
function kindOf(entry: Entry, id: string): ModelKind | undefined {
  const methods = entry['endpoints'] ?? entry['supportedGenerationMethods']
  if (Array.isArray(methods) && methods.length > 0) {
    if (methods.some((one) => one === 'chat' || one === 'generateContent')) return 'chat'
    return methods.some((one) => one === 'embed' || one === 'embedContent')
      ? 'embedding'
      : undefined
  }
  const type = entry['type'] ?? entry['model_type']
  if (typeof type === 'string' && /embed/.test(type)) return 'embedding'
  if (typeof type === 'string' && !chatTypes.test(type)) return undefined
  return /embed|(^|\/)(bge|e5|gte)-/i.test(id) ? 'embedding' : 'chat'
}

/** The members of an entry and of the objects in it, each by its own name; outer ones first. */
function flatten(entry: Entry, depth = 0): [name: string, value: ExactJson][] {
  const own = Object.entries(entry)
  if (depth === 3) return own
  return [...own, ...own.flatMap(([, one]) => (isExactObject(one) ? flatten(one, depth + 1) : []))]
}

const contextNames = [
  'context_window',
  'context_length',
  'max_context_length',
  'max_model_len',
  'context_size',
  'context_tokens',
  'max_input_tokens',
  'inputTokenLimit',
  'availableContextTokens',
]
const outputNames = [
  'max_completion_tokens',
  'max_output_tokens',
  'max_output_length',
  'outputTokenLimit',
  'max_tokens',
]

function limitIn(facts: [string, ExactJson][], names: readonly string[]): number | undefined {
  for (const name of names) {
    const found = facts.flatMap(([one, value]) => (one === name ? [tokensIn(value)] : []))
    const limit = found.find((one) => one !== undefined)
    if (limit !== undefined) return limit
  }
  return undefined
}

/** A feature by the members that tell of it: a flag, or a word in a list. */
const signs: readonly [feature: string, flag: RegExp, word: RegExp][] = [
  ['tools', /^(function_calling|supports_tools|supportsFunctionCalling|tool_call)$/, /^tools?$/],
  ['vision', /^(vision|supports_image_in|supportsVision|image_input)$/, /^(image|vision)$/],
  ['reasoning', /^(reasoning|supportsReasoning|thinking)$/, /^(reasoning|thinking)$/],
  ['json_schema', /^(supportsResponseSchema|structured_outputs)$/, /^structured_outputs$/],
]
const wordLists =
  /^(supported_parameters|input_modalities|supported_input_modalities|features|capabilities|tags)$/

function featuresOf(facts: [string, ExactJson][]): string[] {
  const has = (flag: RegExp, word: RegExp) =>
    facts.some(
      ([name, value]) =>
        (flag.test(name) && value === true) ||
        (wordLists.test(name) &&
          Array.isArray(value) &&
          value.some((one) => typeof one === 'string' && word.test(one))),
    )
  return [
    'streaming',
    ...signs.flatMap(([feature, flag, word]) => (has(flag, word) ? [feature] : [])),
  ]
}

/** Prices a token outside of these are in another unit: $0.000001 and $10,000 a million. */
const leastUsd = 1e-12
const mostUsd = 0.01

function ratesIn(entry: Entry, { at, unit, fields }: ListPrices): UsdRates | undefined {
  let inner: ExactJson | undefined = entry
  for (const name of at) inner = isExactObject(inner) ? inner[name] : undefined
  if (!isExactObject(inner)) return undefined
  const rates: UsdRates = {}
  for (const [name, value] of Object.entries(inner)) {
    const price = amountIn(value)
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined
    // Bands, tiers or another shape: a price that is not read must not be left out.
    if (!price && isFilled(value)) return undefined
    if (!price || (!field && price.digits === 0n)) continue
    // A price without a meter could be incurred: such a model needs prices by hand.
    if (!field) return undefined
    const usd: Decimal = { ...price, scale: price.scale + places[unit] }
    const amount = Number(usd.digits) / 10 ** usd.scale
    if (amount < 0 || amount > mostUsd || (amount !== 0 && amount < leastUsd)) return undefined
    if (amount > 0 || field === 'input_pusd' || field === 'output_pusd') rates[field] = usd
  }
  return rates.input_pusd === undefined ? undefined : rates
}

const isFilled = (value: ExactJson): boolean =>
  Array.isArray(value) ? value.length > 0 : isExactObject(value)

const places: Record<ListPrices['unit'], number> = { token: 0, million: 6, pusd: 12 }

/** A number, a decimal as text, or either as `usd` of an object. */
function amountIn(value: ExactJson | undefined): Decimal | undefined {
  if (isExactObject(value)) return priceIn(value['usd'])
  if (value instanceof NumberText) return priceIn(value)
  return typeof value === 'string' ? parseDecimal(value.replace(/^\$/, '')) : undefined
}
