/** The models on offer and their prices, from the configuration. */
import { canonical } from '../kernel/canonical.ts'
import { sha256Hex } from '../kernel/hash.ts'
import { type Aliases, aliasFinder, namesOf } from './aliases.ts'
import { builtinModels } from './builtins.ts'
import { defaultBytesPerToken } from './count.ts'
import { defaultPdfPages } from './media.ts'
import type { Model, PriceList } from './model.ts'
import {
  balanceOf,
  type CatalogueConfig,
  faultsOf,
  type ModelConfig,
  toStep,
} from './model-config.ts'
import { withHours } from './price-hours.ts'
import { toPrices, toPricesView } from './prices.ts'
import type { ModelAnswer } from './shapes.ts'
import { modelPrices, variedPrices } from './step-prices.ts'

/** Every model there is, also disabled ones, and the version of all their prices. */
export type Catalogue = {
  get(id: string): Model | undefined
  /** The model of this id, else the one that the name is an alias of. */
  named(name: string): Model | undefined
  aliases: Aliases
  list(): readonly Model[]
  priceList: PriceList
  /** The version that a model's prices are of: a request keeps the model it found. */
  priceListOf(model: Model): PriceList
}

/** @throws Error that names every fault, when there is one. */
export function makeCatalogue(config: CatalogueConfig): Catalogue {
  const { models, upstreamIds, aliases = {}, version = 1 } = config
  const faults = faultsOf({ models, upstreamIds })
  if (faults.length > 0) throw new Error(`models: ${faults.join('; ')}`)
  const byId = new Map(builtinModels.map((model) => [model.id, model]))
  for (const one of models) byId.set(one.id, toModel(one, byId.get(one.id)))
  const all = [...byId.values()]
  const priceList = { id: 'default', version, digest: digestOf(all) }
  const idOf = aliasFinder(aliases)
  return {
    get: (id) => byId.get(id),
    named: (name) => byId.get(name) ?? byId.get(idOf(name) ?? ''),
    list: () => all,
    aliases,
    priceList,
    priceListOf: () => priceList,
  }
}

function toModel(config: ModelConfig, builtin: Model | undefined): Model {
  const base: Model = builtin ?? {
    id: config.id,
    name: config.id,
    kind: config.kind ?? 'chat',
    ownedBy: config.id.includes('/') ? (config.id.split('/')[0] ?? '') : 'operator',
    contextTokens: config.total_tokens_max ?? config.context_tokens ?? 0,
    maxOutputTokens: config.max_output_tokens ?? 0,
    prices: { inputPusd: 0n, outputPusd: 0n, requestNusd: 0n },
    features: config.kind === 'chat' ? ['streaming'] : [],
    route: (config.route ?? []).map(toStep),
    balance: balanceOf(config),
    verifiable: 'none',
    status: 'live',
    terminal: false,
    overhead: {
      perMessage: config.overhead_per_message ?? 16,
      fixed: config.overhead_fixed ?? 64,
    },
    holdBytesPerToken: config.hold_bytes_per_token,
    bytesPerToken: defaultBytesPerToken,
    tokenizer: config.tokenizer,
    imageTokensMax: config.image_tokens_max,
    pageTokensMax: config.page_tokens_max,
    pdfPagesMax: config.pdf_pages_max,
    pass: config.pass,
    ...(config.cache === 'auto' && { isCached: true }),
  }
  const prices = modelPrices(toPrices(config), base.route)
  const varied = variedPrices(prices, base.route)
  const model: Model = {
    ...base,
    name: config.name ?? base.name,
    ownedBy: config.owned_by ?? base.ownedBy,
    prices,
    ...(varied && { varied }),
    bytesPerToken: config.bytes_per_token ?? base.bytesPerToken,
    ...(config.bytes_per_token !== undefined && { isBytesPerTokenSet: true as const }),
    ...(config.on_disconnect !== undefined && { onDisconnect: config.on_disconnect }),
    features: featuresOf(base, config.features ?? base.features),
    status: config.status ?? base.status,
    terminal: config.terminal ?? false,
  }
  return withHours(model, config.hours ?? [])
}

/** The features of a model; images and files only as far as they have a bound. */
function featuresOf(model: Model, named: readonly string[]): string[] {
  const media = [
    ...(model.imageTokensMax === undefined ? [] : ['vision']),
    ...(model.pageTokensMax === undefined ? [] : ['files']),
  ]
  return [...named.filter((name) => name !== 'vision' && name !== 'files'), ...media]
}

/** SHA-256 over the JCS (RFC 8785) of all prices, models in the order of their ids. */
function digestOf(models: readonly Model[]): string {
  const sorted = models.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  return sha256Hex(canonical(sorted.map((model) => ({ id: model.id, ...toPricesView(model) }))))
}

/** A model as `/v1/models` shows it: OpenAI's object and ours. Its route stays inside. */
export function toModelView(model: Model, aliases: Aliases = {}): ModelAnswer {
  const names = namesOf(aliases, model.id)
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
    prices: toPricesView(model),
    overhead_tokens: { per_message: model.overhead.perMessage, fixed: model.overhead.fixed },
    input_bound: {
      bytes_per_token: model.holdBytesPerToken ?? 1,
      tokenizer: model.tokenizer ?? null,
      image_tokens_max: model.imageTokensMax ?? null,
      pdf_tokens_max:
        model.pageTokensMax === undefined
          ? null
          : model.pageTokensMax * (model.pdfPagesMax ?? defaultPdfPages),
    },
    features: model.features,
    verifiable: model.verifiable,
    terminal: model.terminal,
    ...(names.length === 0 ? {} : { aliases: names }),
  }
}
