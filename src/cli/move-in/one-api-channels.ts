/** Reads what new-api and one-api call channels: their servers, models and ratios. */
import { type Decimal, multiplyDecimals, parseDecimal } from '../../kernel/decimal.ts'
import { isExactObject, NumberText, parseExactJson } from '../../kernel/exact-json.ts'
import { findProvider } from '../../models/providers/presets.ts'
import { settingsIn } from '../../models/providers/provider.ts'
import {
  addDeployment,
  addMisfit,
  type ExactTable,
  type ServerKey,
  type SourceContents,
} from './found.ts'
import { type Row, textOf } from './tables.ts'

/** Our presets by the number of a channel's type, where both gateways agree. */
const shared = {
  1: 'openai',
  3: 'azure',
  8: 'openai',
  14: 'anthropic',
  16: 'zhipu',
  17: 'alibaba',
  20: 'openrouter',
  24: 'google',
  25: 'moonshot',
}

/** The types of each gateway; from 26 on the two count differently. */
const types: Record<GatewayKind, Readonly<Record<string, string>>> = {
  'new-api': {
    ...shared,
    4: 'ollama',
    26: 'zhipu',
    27: 'perplexity',
    34: 'cohere',
    35: 'minimax',
    40: 'siliconflow',
    42: 'mistral',
    43: 'deepseek',
    48: 'xai',
  },
  'one-api': {
    ...shared,
    27: 'minimax',
    28: 'mistral',
    29: 'groq',
    30: 'ollama',
    35: 'cohere',
    36: 'deepseek',
    39: 'together',
    41: 'novita',
    44: 'siliconflow',
    45: 'xai',
    50: 'openai',
  },
}

/** Types that name no provider: their base_url says where they are. */
const compatible: ReadonlySet<string> = new Set(['8', '50'])

export type GatewayKind = 'new-api' | 'one-api'

type Pricing = { ratios: Ratios; perUnit: Decimal }

export function addChannels(
  found: SourceContents,
  channels: readonly Row[],
  { kind, abilities, pricing }: { kind: GatewayKind; abilities: readonly Row[]; pricing: Pricing },
): void {
  const off = new Set(abilities.filter((row) => textOf(row, 'enabled') === '0').map(abilityOf))
  const on = new Set(abilities.filter((row) => textOf(row, 'enabled') !== '0').map(abilityOf))
  const number = (row: Row, name: string) => Number(textOf(row, name) ?? 0)
  const ordered = [...channels].sort(
    (a, b) =>
      number(b, 'priority') - number(a, 'priority') ||
      number(b, 'weight') - number(a, 'weight') ||
      number(a, 'id') - number(b, 'id'),
  )
  for (const row of ordered) {
    const isOff = (model: string) => {
      const pair = `${textOf(row, 'id')} ${model}`
      return off.has(pair) && !on.has(pair)
    }
    addChannel(found, row, { kind, pricing, isOff })
  }
}

const abilityOf = (row: Row): string => `${textOf(row, 'channel_id')} ${textOf(row, 'model')}`

type Channel = { kind: GatewayKind; pricing: Pricing; isOff(model: string): boolean }

function addChannel(found: SourceContents, row: Row, { kind, pricing, isOff }: Channel): void {
  const name = textOf(row, 'name') ?? `channel ${textOf(row, 'id')}`
  const type = textOf(row, 'type') ?? '0'
  const provider = findProvider(types[kind][type] ?? '')
  if (textOf(row, 'status') !== '1') {
    addMisfit(found.misfits, 'a channel is off', name)
    return
  }
  if (!provider) {
    addMisfit(found.misfits, `a channel of type ${type}`, name)
    return
  }
  const base = baseOf(provider.id, textOf(row, 'base_url'))
  if (base === undefined && (settingsIn(provider).length > 0 || compatible.has(type))) {
    addMisfit(found.misfits, 'a channel without a base_url', name)
    return
  }
  for (const column of ['param_override', 'header_override', 'status_code_mapping'] as const) {
    if (!/^(|\{\})$/.test(textOf(row, column) ?? '')) {
      addMisfit(found.misfits, `${column} of a channel`, name)
    }
  }
  const mapping = tableIn(row, 'model_mapping')
  const models = (textOf(row, 'models') ?? '').split(',').map((model) => model.trim())
  for (const id of models.filter((model) => model !== '' && !isOff(model))) {
    const mapped = mapping[id]
    const upstreamName = typeof mapped === 'string' && mapped !== '' ? mapped : id
    const facts = factsOf(id, pricing)
    for (const key of keysOf(row)) {
      const publicNames = [upstreamName, id]
      addDeployment(found.models, id, {
        ...{ provider, baseUrl: base, key, upstreamName, publicNames, facts },
      })
    }
  }
}

/** Its addresses end before the version that ours name. */
function baseOf(provider: string, text: string | undefined): string | undefined {
  const base = text?.trim().replace(/(?<!\/)\/+$/, '')
  if (!base) return undefined
  if (provider === 'azure') return `${base}/openai/v1`
  const ours: Record<string, string> = {
    google: '/v1beta/openai',
    zhipu: '/api/paas/v4',
    alibaba: '/compatible-mode/v1',
    cohere: '/compatibility/v1',
    perplexity: '',
  }
  return /\/v\d+$/.test(base) ? base : `${base}${ours[provider] ?? '/v1'}`
}

/** A channel may have several keys, one a line. */
function keysOf(row: Row): (ServerKey | undefined)[] {
  const keys = (textOf(row, 'key') ?? '').split('\n').map((key) => key.trim())
  const secrets = keys.filter((key) => key !== '').map((secret) => ({ secret }))
  return secrets.length === 0 ? [undefined] : secrets
}

/** Prices as the options of the other gateway have them. */
export type Ratios = {
  model: ExactTable
  completion: ExactTable
  cache: ExactTable
  price: ExactTable
}

/**
 * A ratio is quota units a token; a price is dollars a call. A model without both its ratios is
 * priced by what is published, because the built-in ratios of the other are not in its database.
 */
function factsOf(id: string, { ratios, perUnit }: Pricing): ExactTable {
  const [price, ratio] = [decimalIn(ratios.price[id]), decimalIn(ratios.model[id])]
  const [completion, cache] = [decimalIn(ratios.completion[id]), decimalIn(ratios.cache[id])]
  if (price) {
    const free = new NumberText('0')
    const perCall = { input_cost_per_request: new NumberText(toText(price)) }
    return { input_cost_per_token: free, output_cost_per_token: free, ...perCall }
  }
  const isEmbedding = /embed|bge-|m3e/.test(id)
  if (!ratio || !(completion || isEmbedding)) return {}
  const input = multiplyDecimals(ratio, perUnit)
  const part = (factor: Decimal) => new NumberText(toText(multiplyDecimals(input, factor)))
  return {
    input_cost_per_token: new NumberText(toText(input)),
    ...(completion ? { output_cost_per_token: part(completion) } : {}),
    ...(cache ? { cache_read_input_token_cost: part(cache) } : {}),
  }
}

const decimalIn = (value: unknown): Decimal | undefined =>
  value instanceof NumberText ? parseDecimal(value.text) : undefined

const toText = ({ digits, scale }: Decimal): string => `${digits}e${-scale}`

/** @throws Error for a column that holds something else than a JSON object */
export function tableIn(row: Row, name: string): ExactTable {
  const text = textOf(row, name)
  if (text === undefined) return {}
  try {
    const json = parseExactJson(text)
    return isExactObject(json) ? json : {}
  } catch {
    throw new Error(`${name} of "${textOf(row, 'name') ?? textOf(row, 'key')}" is not JSON`)
  }
}
