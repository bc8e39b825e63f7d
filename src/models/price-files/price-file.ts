/** What a public price file says, in our meters: exact, in USD a unit. */
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
  /** What its server calls it. */
  upstreamName: string
  kind: ModelKind
  contextTokens: number
  /** 0 for an embedding. */
  maxOutputTokens: number
  features: string[]
  rates: UsdRates
  bands: { aboveInputTokens: number; rates: UsdRates }[]
  tiers: { name: string; rates: UsdRates }[]
}

/** A model with a price that has no meter here; each dimension by its name in the file. */
export type RefusedModel = { id: string; dimensions: string[] }

export type PriceFile = {
  models: OfferedModel[]
  refused: RefusedModel[]
  /** How many models were left out, by the reason. */
  leftOut: Map<string, number>
}

export type FileWish = {
  /** Whether a model is wanted at all. */
  wants(id: string): boolean
  /** Dimensions, or tiers, that the operator leaves out knowingly. */
  without: ReadonlySet<string>
}

/** One entry of a file: a model, what speaks against it, or why it is none. */
export type ReadEntry = OfferedModel | RefusedModel | { id: string; leftOut: string }

export function collect(entries: Iterable<ReadEntry>, { wants }: FileWish): PriceFile {
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

/** A price: a JSON number or a decimal as text. Undefined for anything else. */
export function priceIn(value: ExactJson | undefined): Decimal | undefined {
  if (value instanceof NumberText) return parseDecimal(value.text)
  return typeof value === 'string' ? parseDecimal(value) : undefined
}

/** A count of tokens of 1…1,000,000,000; undefined for anything else. */
export function tokensIn(value: ExactJson | undefined): number | undefined {
  const text = value instanceof NumberText ? value.text : ''
  const count = /^\d{1,10}(\.0+)?$/.test(text) ? Number(text) : 0
  return count >= 1 && count <= 1_000_000_000 ? count : undefined
}
