/** Decides at which price and within which limits a provider's models can be offered. */
import type { Millis } from '../../kernel/clock.ts'
import { isZero } from '../../kernel/decimal.ts'
import { parseExactJson } from '../../kernel/exact-json.ts'
import { readOpenrouter } from '../price-files/openrouter.ts'
import { type KnownPrices, openPriceData, type PriceFinding } from '../price-files/price-data.ts'
import { boundImages, type OfferedModel } from '../price-files/price-file.ts'
import { type ListedModel, readModelList } from './model-list.ts'
import type { Provider } from './provider.ts'

/** A listed model that cannot be offered as it is, and what its operator has to say of it. */
export type IncompleteModel = {
  id: string
  upstreamName: string
  /** The facts that are published nowhere, and are never guessed. */
  missing: ('price' | 'context')[]
  /** Units of its price that have no meter here. */
  dimensions: string[]
}

export type Offers = { models: OfferedModel[]; incomplete: IncompleteModel[] }

/** The operator's own facts about models for which none are published. */
export type OwnFacts = {
  contextTokens?: number | undefined
  prices?: KnownPrices['rates'] | undefined
}

/** Reads pages of a list. @throws Error for a text that is not a list in the provider's shape */
export function readListPages(
  provider: Provider,
  texts: readonly string[],
): { listed: ListedModel[]; priced: OfferedModel[]; next: string | undefined } {
  const shape = provider.list?.shape ?? 'openai'
  if (shape === 'openrouter') {
    const all = { wants: () => true, without: new Set<string>() }
    const priced = texts.flatMap((text) => readOpenrouter(parseExactJson(text), all).models)
    return { listed: [], priced, next: undefined }
  }
  const pages = texts.map((text) => readModelList(text, shape, provider.listPrices))
  const listed = pages.flatMap(({ models }) => models)
  return { listed, priced: [], next: pages.at(-1)?.next }
}

/**
 * The models of a list with their prices: those of the list, else of the embedded data; those of
 * the operator's own machines are free. Anything that nothing tells is missing.
 */
export async function offersOf(
  provider: Provider,
  { listed, priced }: { listed: readonly ListedModel[]; priced: readonly OfferedModel[] },
  own: OwnFacts,
  now: Millis,
): Promise<Offers> {
  const { prices: dataId, leaveOut } = provider
  const known = dataId === undefined ? () => undefined : await openPriceData(dataId, now)
  const offers: Offers = { models: priced.map((one) => ({ ...one })), incomplete: [] }
  offers.models = [...new Map(offers.models.map((one) => [one.id, one])).values()]
  // By the id here: two names of a server may come to one.
  const seen = new Set<string>()
  for (const model of listed) {
    const id = modelIdOf(provider, model.id)
    if (seen.has(id) || leaveOut?.test(model.id)) continue
    seen.add(id)
    addOffer(offers, provider, model, known(model.id), own)
  }
  return offers
}

function addOffer(
  { models, incomplete }: Offers,
  provider: Provider,
  listed: ListedModel,
  finding: PriceFinding | undefined,
  own: OwnFacts,
): void {
  const { kind, name, id: upstreamName } = listed
  const id = modelIdOf(provider, upstreamName)
  if (finding && 'dimensions' in finding && !listed.rates) {
    incomplete.push({ id, upstreamName, missing: [], dimensions: finding.dimensions })
    return
  }
  const data = finding && !('dimensions' in finding) ? finding : undefined
  const prices = pricesOf(provider, listed, data, own)
  const context = listed.contextTokens ?? data?.contextTokens ?? own.contextTokens
  if (!prices || context === undefined) {
    const missing = [prices ? [] : ['price' as const], context ? [] : ['context' as const]].flat()
    incomplete.push({ id, upstreamName, missing, dimensions: [] })
    return
  }
  models.push(
    boundImages({
      ...{ id, name: name ?? data?.name, upstreamName, kind, tiers: [], ...prices },
      ...limitsOf(listed, context),
      features: [...listed.features],
      notes: [...prices.notes],
    }),
  )
}

/** A name with an owner in it is an id already; any other gets the provider as its owner. */
const modelIdOf = ({ id }: Provider, name: string): string =>
  name.includes('/') ? name : `${id}/${name}`

function pricesOf(
  { isLocal }: Provider,
  { kind, rates: listed }: ListedModel,
  data: KnownPrices | undefined,
  own: OwnFacts,
): Pick<OfferedModel, 'rates' | 'bands' | 'notes'> | undefined {
  const zero = { digits: 0n, scale: 0 }
  const free = isLocal ? { input_pusd: zero, output_pusd: zero } : undefined
  // Lists have zeros for what is billed otherwise: by the hour, or not at all yet.
  const priced = listed && Object.values(listed).some((usd) => !isZero(usd)) ? listed : undefined
  // The operator's word is for models about which nothing is published.
  const rates = priced ?? data?.rates ?? own.prices ?? free
  if (!rates?.input_pusd || (kind === 'chat' && !rates.output_pusd)) return undefined
  const isOfData = rates === data?.rates
  const { output_pusd: _, ...ofEmbedding } = rates
  return {
    rates: kind === 'embedding' ? ofEmbedding : { ...rates },
    bands: isOfData && kind === 'chat' ? data.bands.map((band) => ({ ...band })) : [],
    notes: isOfData ? data.notes : [],
  }
}

/**
 * A limit of input that is told beside one of output bounds the input alone; so both are taken
 * beside each other, and no run is larger than its hold.
 */
function limitsOf({ kind, maxOutputTokens }: ListedModel, contextTokens: number) {
  if (kind === 'embedding') return { contextTokens, maxOutputTokens: 0 }
  const most = maxOutputTokens ?? contextTokens
  return most <= contextTokens
    ? { contextTokens, maxOutputTokens: most }
    : { contextTokens, totalTokens: contextTokens + most, maxOutputTokens: most }
}
