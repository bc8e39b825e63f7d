/** The prices of a public price file in our meters: exact, in USD a unit. */
import { type Decimal, parseDecimal } from '../../kernel/decimal.ts'
import { type ExactJson, NumberText } from '../../kernel/exact-json.ts'
import type { ModelKind } from '../meter.ts'
import type { costFields } from '../rate-fields.ts'

/** Rates by the names of the configuration, each in USD a unit. */
export type UsdRates = { -readonly [Field in keyof typeof costFields]?: Decimal }

/** A model as a price file has it. */
export type OfferedModel = {
  id: string
  name: string | undefined
  /** The name that its server has for it. */
  upstreamName: string
  kind: ModelKind
  /** The limit of input, or of input and output where `totalTokens` says nothing. */
  contextTokens: number
  /** The limit of input and output together, where the file has a limit for each. */
  totalTokens?: number | undefined
  /** 0 for an embedding. */
  maxOutputTokens: number
  features: string[]
  rates: UsdRates
  bands: { aboveInputTokens: number; rates: UsdRates }[]
  tiers: { name: string; rates: UsdRates }[]
  /** Most tokens of an image; absent, it takes none here. */
  imageTokensMax?: number | undefined
  /** Lines for the operator, without its id. */
  notes: string[]
}

/** A model with a price that has no meter here; each dimension by its name in the file. */
export type RefusedModel = { id: string; dimensions: string[] }

export type PriceFile = {
  models: OfferedModel[]
  refused: RefusedModel[]
  /** How many models were left out, by the reason. */
  leftOut: Map<string, number>
}

export type PriceFileOptions = {
  /** Whether a model is wanted at all. */
  wants(id: string): boolean
  /** Dimensions, or tiers, that the operator leaves out knowingly. */
  without: ReadonlySet<string>
}

/** One entry of a file: a model, what speaks against it, or why it is none. */
export type ReadEntry = OfferedModel | RefusedModel | { id: string; leftOut: string }

export function collect(entries: Iterable<ReadEntry>, { wants }: PriceFileOptions): PriceFile {
  const file: PriceFile = { models: [], refused: [], leftOut: new Map() }
  for (const entry of entries) {
    if (!wants(entry.id)) continue
    const isNamed = /^[A-Za-z0-9][\w.:@/-]{0,127}$/.test(entry.id)
    const reason =
      'leftOut' in entry ? entry.leftOut : isNamed ? undefined : 'an id that is none here'
    if (reason !== undefined) file.leftOut.set(reason, (file.leftOut.get(reason) ?? 0) + 1)
    else if ('dimensions' in entry) file.refused.push(entry)
    else if ('rates' in entry) file.models.push(entry)
  }
  return file
}

/** The note on a price that is left out because it can never be charged. */
export const ignoredNote = (name: string): string =>
  `Ignored, because no request here can ask for it: ${name}`

/**
 * Gives a model that reads images their bound by its provider's rule. Without a rule it takes no
 * images here, so that a rate of theirs is none of its either.
 */
export function boundImages(model: OfferedModel): OfferedModel {
  if (!model.features.includes('vision')) return model
  model.imageTokensMax = imageTokensOf(model.upstreamName) ?? imageTokensOf(model.id)
  if (model.imageTokensMax !== undefined) return model
  model.features = model.features.filter((name) => name !== 'vision')
  for (const { rates } of [model, ...model.bands, ...model.tiers]) delete rates.image_input_pusd
  model.bands = model.bands.filter(hasRates)
  model.tiers = model.tiers.filter(hasRates)
  const why = 'their tokens have no published bound (image_tokens_max)'
  model.notes.push(`Takes no images here, because ${why}`)
  return model
}

export const hasRates = ({ rates }: { rates: UsdRates }): boolean => Object.keys(rates).length > 0

/** A price: a JSON number or a decimal as text. Undefined for anything else. */
export function priceIn(value: ExactJson | undefined): Decimal | undefined {
  if (value instanceof NumberText) return parseDecimal(value.text)
  return typeof value === 'string' ? parseDecimal(value) : undefined
}

/** A name that can be shown: no control turns it around or breaks its line. */
export const plainName = (name: string): string | undefined =>
  /^[^\p{C}\p{Zl}\p{Zp}]{1,200}$/u.test(name) ? name : undefined

/** A count of tokens of 1…1,000,000,000; undefined for anything else. */
export function tokensIn(value: ExactJson | undefined): number | undefined {
  const text = value instanceof NumberText ? value.text : ''
  const count = /^\d{1,10}(\.0+)?$/.test(text) ? Number(text) : 0
  return count >= 1 && count <= 1_000_000_000 ? count : undefined
}

/**
 * The most tokens of one image as its provider publishes them, by the name of a model: first match
 * first, each the largest image that its rule allows.
 * Anthropic: width × height / 750 up to about 1,600; since Opus 4.7 up to 4,784 patches.
 * OpenAI: a base and eight tiles of 512 pixels, or patches of 32 pixels (1,536, since GPT-5.4 up to
 * 10,000) times at most 2.46. Google: 258 a tile, at most 2,240 (`ultra_high`) or ten tiles.
 */
const rules: readonly (readonly [name: RegExp, tokens: number])[] = [
  [/^claude-(3|instant|2)/, 1_600],
  [/^claude-/, 4_784],
  [/^gpt-4o-mini/, 2_833 + 8 * 5_667],
  [/^(gpt-4\.1-(mini|nano)|o4-mini|gpt-5(\.[0-3])?(?![.\d]))/, 3_779],
  [/^(chatgpt-4o|gpt-4o|gpt-4\.1|gpt-4\.5|gpt-4-turbo|gpt-4-vision|gpt-4-1106)/, 1_445],
  [/^(o1|o3|computer-use)/, 1_445],
  [/^(gpt-|o\d)/, 24_600],
  [/^gemini-/, 10 * 258],
]

/**
 * The most tokens of an image of this model; undefined where its provider publishes no rule. What
 * stands before the name is left away: the provider, a region, a cloud's own name of the vendor.
 */
function imageTokensOf(id: string): number | undefined {
  const [last = ''] = id.toLowerCase().split('/').slice(-1)
  const name = last.replace(/^([a-z-]+[.:])*(?=claude-|gpt-|gemini-|o\d)/, '')
  return rules.find(([pattern]) => pattern.test(name))?.[1]
}
