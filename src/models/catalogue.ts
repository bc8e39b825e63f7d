/** The models on offer and their prices, from the configuration. */
import { canonical } from '../kernel/canonical.ts'
import { sha256Hex } from '../kernel/hash.ts'
import { maxNusd, toJsonInteger } from '../kernel/money.ts'
import { builtinModels } from './builtins.ts'
import type { ModelKind, Prices } from './meter.ts'
import type { Model, PriceList, RouteStep } from './model.ts'
import type { ModelAnswer } from './shapes.ts'

/**
 * One `[[models]]` of the configuration. What a model needs and lacks is named by
 * {@link faultsOf}. Under the id of a built-in model it changes prices, names, status and
 * `terminal` (which then is off unless it says so: the service does not pay by accident); what the
 * model is and can stays.
 */
export type ModelConfig = {
  id: string
  name?: string
  /** Each `upstream:model`, split at the first colon. */
  route?: string[]
  kind?: ModelKind
  context_tokens?: number
  /** Needed for chat, 0 for an embedding. */
  max_output_tokens?: number
  /** Integers of 0…9e15. */
  input_pusd?: number | bigint
  output_pusd?: number | bigint
  request_nusd?: number | bigint
  /** Tokens. The defaults leave room for the prompt that a chat template brings by itself. */
  overhead_per_message?: number
  overhead_fixed?: number
  terminal?: boolean
  features?: string[]
  owned_by?: string
  status?: Model['status']
}

export type CatalogueConfig = {
  models: readonly ModelConfig[]
  upstreamIds: readonly string[]
  /** Of the price list; 1 unless told otherwise. */
  version?: number
}

/** Every model there is, also disabled ones, and the version of all their prices. */
export type Catalogue = {
  get(id: string): Model | undefined
  list(): readonly Model[]
  priceList: PriceList
  /** The version that a model's prices are of: a request keeps the model it found. */
  priceListOf(model: Model): PriceList
}

/** @throws Error that names every fault, when there is one. */
export function makeCatalogue({ models, upstreamIds, version = 1 }: CatalogueConfig): Catalogue {
  const faults = faultsOf({ models, upstreamIds })
  if (faults.length > 0) throw new Error(`models: ${faults.join('; ')}`)
  const byId = new Map(builtinModels.map((model) => [model.id, model]))
  for (const config of models) byId.set(config.id, toModel(config, byId.get(config.id)))
  const all = [...byId.values()]
  const priceList = { id: 'default', version, digest: digestOf(all) }
  return { get: (id) => byId.get(id), list: () => all, priceList, priceListOf: () => priceList }
}

/** Everything that is wrong with the configured models, in words an operator can act on. */
export function faultsOf({ models, upstreamIds }: CatalogueConfig): string[] {
  const faults: string[] = []
  const seen = new Set<string>()
  const known = new Set(upstreamIds)
  for (const config of models) {
    const say = (words: string) => faults.push(`"${config.id}" ${words}`)
    if (!/^[A-Za-z0-9][\w.:@/-]{0,127}$/.test(config.id)) say('is not a model id (owner/name)')
    if (seen.has(config.id)) say('occurs twice')
    seen.add(config.id)
    const builtin = builtinModels.find((model) => model.id === config.id)
    checkPrices(config, builtin?.kind ?? config.kind, say)
    if (!builtin) checkServed(config, known, say)
    else if (config.route?.length) say('is built in and takes no route')
  }
  return faults
}

type Say = (words: string) => void

/** A model without a price is refused: it would be free by accident. */
function checkPrices(config: ModelConfig, kind: ModelKind | undefined, say: Say): void {
  if (config.input_pusd === undefined) say('needs input_pusd (0 when it is free)')
  if (kind === 'chat' && config.output_pusd === undefined) {
    say('needs output_pusd (0 when it is free)')
  }
  for (const field of ['input_pusd', 'output_pusd', 'request_nusd'] as const) {
    const price = config[field]
    if (price !== undefined && !isPrice(price)) say(`${field} is not an integer of 0…9e15`)
  }
}

function checkServed(config: ModelConfig, upstreamIds: Set<string>, say: Say): void {
  if (config.kind !== 'chat' && config.kind !== 'embedding') say('needs kind chat or embedding')
  if (!isCount(config.context_tokens, 1)) say('needs context_tokens of 1…1,000,000,000')
  if (config.kind === 'chat' && !isCount(config.max_output_tokens, 1)) {
    say('needs max_output_tokens of 1…1,000,000,000')
  }
  if (config.kind === 'embedding' && (config.max_output_tokens ?? 0) !== 0) {
    say('is an embedding: max_output_tokens is 0')
  }
  for (const field of ['overhead_per_message', 'overhead_fixed'] as const) {
    if (config[field] !== undefined && !isCount(config[field], 0)) {
      say(`${field} is not an integer of 0…1,000,000,000`)
    }
  }
  if (!config.route?.length) say('needs a route of at least one "upstream:model"')
  for (const step of config.route ?? []) {
    const { upstream, model } = toStep(step)
    if (upstream === '' || model === '') say(`route "${step}" is not "upstream:model"`)
    else if (!upstreamIds.has(upstream)) say(`route "${step}" names an unknown upstream`)
  }
}

function toModel(config: ModelConfig, builtin: Model | undefined): Model {
  const base: Model = builtin ?? {
    id: config.id,
    name: config.id,
    kind: config.kind ?? 'chat',
    ownedBy: config.id.includes('/') ? (config.id.split('/')[0] ?? '') : 'operator',
    contextTokens: config.context_tokens ?? 0,
    maxOutputTokens: config.max_output_tokens ?? 0,
    prices: { inputPusd: 0n, outputPusd: 0n, requestNusd: 0n },
    features: config.kind === 'chat' ? ['streaming'] : [],
    route: (config.route ?? []).map(toStep),
    verifiable: 'none',
    status: 'live',
    terminal: false,
    overhead: {
      perMessage: config.overhead_per_message ?? 16,
      fixed: config.overhead_fixed ?? 64,
    },
  }
  return {
    ...base,
    name: config.name ?? base.name,
    ownedBy: config.owned_by ?? base.ownedBy,
    prices: {
      inputPusd: BigInt(config.input_pusd ?? 0),
      outputPusd: BigInt(config.output_pusd ?? 0),
      requestNusd: BigInt(config.request_nusd ?? 0),
    },
    features: config.features ?? base.features,
    status: config.status ?? base.status,
    terminal: config.terminal ?? false,
  }
}

function toStep(step: string): RouteStep {
  const colon = step.indexOf(':')
  if (colon === -1) return { upstream: '', model: step }
  return { upstream: step.slice(0, colon), model: step.slice(colon + 1) }
}

/** SHA-256 over the JCS (RFC 8785) of all prices, models in the order of their ids. */
function digestOf(models: readonly Model[]): string {
  const sorted = models.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  return sha256Hex(canonical(sorted.map(({ id, prices }) => ({ id, ...toPricesView(prices) }))))
}

function toPricesView({ inputPusd, outputPusd, requestNusd }: Prices) {
  return {
    input_pusd: toJsonInteger(inputPusd),
    output_pusd: toJsonInteger(outputPusd),
    request_nusd: toJsonInteger(requestNusd),
  }
}

/** A model as `/v1/models` shows it: OpenAI's object and ours. Its route stays inside. */
export function toModelView(model: Model): ModelAnswer {
  return {
    id: model.id,
    object: 'model',
    // Asked for by OpenAI's shape; when an upstream made its model is not known to us.
    created: 0,
    owned_by: model.ownedBy,
    name: model.name,
    kind: model.kind,
    status: model.status,
    context_tokens: model.contextTokens,
    max_output_tokens: model.maxOutputTokens,
    prices: toPricesView(model.prices),
    overhead_tokens: { per_message: model.overhead.perMessage, fixed: model.overhead.fixed },
    features: model.features,
    verifiable: model.verifiable,
    terminal: model.terminal,
  }
}

function isPrice(price: number | bigint): boolean {
  if (typeof price === 'number' && !Number.isInteger(price)) return false
  return price >= 0 && price <= maxNusd
}

function isCount(value: number | undefined, least: number): boolean {
  return Number.isInteger(value) && value !== undefined && value >= least && value <= 1_000_000_000
}
