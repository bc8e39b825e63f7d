/** A model as the configuration writes it, and what can be wrong with it. */
import { maxNusd } from '../kernel/money.ts'
import type { Aliases } from './aliases.ts'
import { builtinModels } from './builtins.ts'
import { faultsOfHours, type Hours } from './hours.ts'
import type { ModelKind } from './meter.ts'
import type { Balance, Model, OnDisconnect, RouteStep } from './model.ts'
import { toPrices } from './prices.ts'
import { type Price, type PricesConfig, type RatesConfig, rateFields } from './rate-fields.ts'
import { ordinaryTiers } from './tiers.ts'
import type { TokenizerName } from './tokenizers/tokenizer.ts'

/** A step of a route: what it costs the operator, and its prices if not the model's. */
export type StepConfig = {
  to: string
  weight?: number | undefined
  cost?: PricesConfig | undefined
  prices?: PricesConfig | undefined
}

/** Prices in some hours of the week. */
export type HoursConfig = PricesConfig & Hours

/**
 * One `[[models]]` of the configuration. What a model needs and lacks is named by
 * {@link faultsOf}. Under the id of a built-in model it changes prices, names, status and
 * `terminal` (which then is off unless it says so: the service does not pay by accident); what the
 * model is and can stays.
 */
export type ModelConfig = PricesConfig & {
  id: string
  name?: string | undefined
  /** Each `upstream:model`, split at the first colon, or a table with more of the step. */
  route?: (string | StepConfig)[] | undefined
  /** `weight` where the first step of the route has a weight, else `order`, when absent. */
  balance?: Balance | undefined
  /** Hours with prices of their own. */
  hours?: HoursConfig[] | undefined
  kind?: ModelKind | undefined
  context_tokens?: number | undefined
  /** Needed for chat, 0 for an embedding. */
  max_output_tokens?: number | undefined
  /** Whether `context_tokens` is the limit of the input alone. */
  total_tokens_max?: number | undefined
  /** Tokens. The defaults leave room for the prompt that a chat template brings by itself. */
  overhead_per_message?: number | undefined
  overhead_fixed?: number | undefined
  hold_bytes_per_token?: number | undefined
  /** Bytes of a token where usage is counted; 4 when absent. */
  bytes_per_token?: number | undefined
  tokenizer?: TokenizerName | undefined
  image_tokens_max?: number | undefined
  page_tokens_max?: number | undefined
  pdf_pages_max?: number | undefined
  terminal?: boolean | undefined
  on_disconnect?: OnDisconnect | undefined
  /** When requests that are translated into Messages get cache breakpoints; `asked` when absent. */
  cache?: 'auto' | 'asked' | undefined
  /** Members that a server of the request's own protocol gets beside those that are known. */
  pass?: string[] | undefined
  features?: string[] | undefined
  owned_by?: string | undefined
  status?: Model['status'] | undefined
}

export type CatalogueConfig = {
  models: readonly ModelConfig[]
  upstreamIds: readonly string[]
  aliases?: Aliases | undefined
  /** The number of the price list; 1 unless told otherwise. */
  version?: number
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
    const { bytes_per_token: bytes } = config
    if (bytes !== undefined && !(bytes >= 1 && bytes <= 16)) say('bytes_per_token is not 1…16')
    const builtin = builtinModels.find((model) => model.id === config.id)
    const kind = builtin?.kind ?? config.kind
    checkPrices(config, kind, say)
    checkHours(config, kind, say)
    if (!builtin) checkServed(config, known, say)
    else if (config.route?.length) say('is built in and takes no route')
    else if (config.balance !== undefined) say('is built in and takes no balance')
  }
  return faults
}

type FaultSink = (words: string) => void

/** A model without a price is refused: it would be free by accident. So is a cost without one. */
function checkPrices(config: PricesConfig, kind: ModelKind | undefined, say: FaultSink): void {
  if (config.input_pusd === undefined) say('needs input_pusd (0 when it is free)')
  if (kind === 'chat' && config.output_pusd === undefined) {
    say('needs output_pusd (0 when it is free)')
  }
  checkRates(config, ['request_nusd'], say)
  const { bands = [], tiers = [] } = config
  const above = bands.map((band) => band.above_input_tokens)
  for (const band of bands) {
    const { above_input_tokens: tokens } = band
    checkRates(band, [], (words) => say(`bands: ${words}`))
    if (!isCount(tokens, 1)) say('bands: needs above_input_tokens of 1…1,000,000,000')
    if (Object.keys(ratesIn(band)).length === 0) say(`bands: the one above ${tokens} names no rate`)
  }
  if (new Set(above).size < above.length) say('bands: two begin above the same input')
  const names = tiers.map(({ name }) => name)
  for (const tier of tiers) {
    checkRates(tier, [], (words) => say(`tiers: ${words}`))
    if (ordinaryTiers.has(tier.name)) say(`tiers: "${tier.name}" is the ordinary tier`)
    if (Object.keys(ratesIn(tier)).length === 0) say(`tiers: "${tier.name}" names no rate`)
  }
  if (new Set(names).size < names.length) say('tiers: two have the same name')
}

function checkRates(
  rates: RatesConfig & { request_nusd?: Price },
  more: string[],
  say: FaultSink,
): void {
  for (const field of [...Object.keys(rateFields), ...more] as (keyof typeof rates)[]) {
    const price = rates[field]
    if (price !== undefined && !isPrice(price)) say(`${field} is not an integer of 0…9e15`)
  }
}

const ratesIn = (rates: RatesConfig): RatesConfig =>
  Object.fromEntries(
    Object.entries(rates).filter(([name, rate]) => name in rateFields && rate !== undefined),
  )

function checkServed(config: ModelConfig, upstreamIds: Set<string>, say: FaultSink): void {
  if (config.kind !== 'chat' && config.kind !== 'embedding') say('needs kind chat or embedding')
  if (!isCount(config.context_tokens, 1)) say('needs context_tokens of 1…1,000,000,000')
  if (config.kind === 'chat' && !isCount(config.max_output_tokens, 1)) {
    say('needs max_output_tokens of 1…1,000,000,000')
  }
  if (config.kind === 'embedding' && (config.max_output_tokens ?? 0) !== 0) {
    say('is an embedding: max_output_tokens is 0')
  }
  const { context_tokens: context = 0, total_tokens_max: total } = config
  if (total !== undefined && !(isCount(total, 1) && total >= context)) {
    say('total_tokens_max is not an integer of context_tokens…1,000,000,000')
  }
  for (const field of ['overhead_per_message', 'overhead_fixed'] as const) {
    if (config[field] !== undefined && !isCount(config[field], 0)) {
      say(`${field} is not an integer of 0…1,000,000,000`)
    }
  }
  const { hold_bytes_per_token: bytes = 1 } = config
  if (!isCount(bytes, 1) || bytes > 4) say('hold_bytes_per_token is not an integer of 1…4')
  for (const field of ['image_tokens_max', 'page_tokens_max', 'pdf_pages_max'] as const) {
    if (config[field] === undefined) continue
    if (!isCount(config[field], 1)) say(`${field} is not an integer of 1…1,000,000,000`)
    if (config.kind === 'embedding') say(`is an embedding: it has no ${field}`)
  }
  if (config.pdf_pages_max !== undefined && config.page_tokens_max === undefined) {
    say('pdf_pages_max needs page_tokens_max')
  }
  if (config.balance !== undefined && config.balance !== 'order') {
    if (!config.route?.some((step) => weightOf(step) !== undefined)) {
      say(`balance = "${config.balance}" needs a weight at each step that it is for`)
    }
  }
  if (!config.route?.length) say('needs a route of at least one "upstream:model"')
  for (const step of config.route ?? []) {
    const name = nameOf(step)
    const { upstream, model } = toPlace(name)
    if (upstream === '' || model === '') say(`route "${name}" is not "upstream:model"`)
    else if (!upstreamIds.has(upstream)) say(`route "${name}" names an unknown upstream`)
    if (typeof step !== 'string' && step.weight !== undefined && !isCount(step.weight, 1)) {
      say(`route "${name}": weight is not an integer of 1…1,000,000,000`)
    }
    if (typeof step !== 'string' && step.cost) {
      checkPrices(step.cost, config.kind, (words) => say(`route "${name}": cost ${words}`))
    }
    if (typeof step !== 'string' && step.prices) {
      const sayOf = (words: string) => say(`route "${name}": ${words}`)
      checkPrices(step.prices, config.kind, sayOf)
      checkAlike(config, step.prices, sayOf)
    }
  }
}

function checkHours(config: ModelConfig, kind: ModelKind | undefined, say: FaultSink): void {
  const { hours = [] } = config
  if (hours.length > 0 && config.route && isPricedApart(config.route)) {
    say('hours: change nothing, because each step of the route has prices of its own')
  }
  for (const fault of faultsOfHours(hours)) say(`hours: ${fault}`)
  for (const one of hours) {
    const sayOf = (words: string) => say(`hours from ${one.from} to ${one.to}: ${words}`)
    checkPrices(one, kind, sayOf)
    checkAlike(config, one, sayOf)
  }
}

/** All that a request can ask of a model has a price at each step and hour: tiers, searches. */
function checkAlike(model: PricesConfig, prices: PricesConfig, say: FaultSink): void {
  const [wanted, named] = [model, prices].map(({ tiers = [] }) => tiers.map(({ name }) => name))
  for (const name of wanted ?? []) {
    if (!named?.includes(name)) say(`needs prices of the tier "${name}", which the model has`)
  }
  for (const name of named ?? []) {
    if (!wanted?.includes(name)) say(`has the tier "${name}", which the model has not`)
  }
  const [searched, priced] = [model, prices].map((of) => of.web_search_nusd !== undefined)
  if (searched && !priced) say('needs web_search_nusd, which the model has')
  if (priced && !searched) say('has web_search_nusd, which the model has not')
}

/** Whether each step has prices of its own, so that no run has those of the model. */
export const isPricedApart = (route: readonly (string | StepConfig)[]): boolean =>
  route.length > 0 && route.every((step) => typeof step !== 'string' && step.prices !== undefined)

/** Undefined where the order is fixed. */
export function balanceOf({ route = [], balance }: ModelConfig): Balance | undefined {
  const [first] = route
  const isWeighted = first !== undefined && weightOf(first) !== undefined
  const named = balance ?? (isWeighted ? 'weight' : 'order')
  return named === 'order' ? undefined : named
}

/** A step of a configuration without faults, its cost worked out. */
export function toStep(step: string | StepConfig): RouteStep {
  const place = toPlace(nameOf(step))
  if (typeof step === 'string') return place
  const { weight, cost, prices } = step
  return {
    ...place,
    ...(weight && { weight }),
    ...(cost && { cost: toPrices(cost) }),
    ...(prices && { prices: toPrices(prices) }),
  }
}

export const weightOf = (step: string | StepConfig): number | undefined =>
  typeof step === 'string' ? undefined : step.weight

const nameOf = (step: string | StepConfig): string => (typeof step === 'string' ? step : step.to)

function toPlace(name: string): RouteStep {
  const colon = name.indexOf(':')
  if (colon === -1) return { upstream: '', model: name }
  return { upstream: name.slice(0, colon), model: name.slice(colon + 1) }
}

function isPrice(price: Price): boolean {
  if (typeof price === 'number' && !Number.isInteger(price)) return false
  return price >= 0 && price <= maxNusd
}

function isCount(value: number | undefined, least: number): boolean {
  return Number.isInteger(value) && value !== undefined && value >= least && value <= 1_000_000_000
}
