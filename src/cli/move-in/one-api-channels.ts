/** Reads what new-api and one-api call channels: their servers, models and ratios. */
import { type Decimal, multiplyDecimals, parseDecimal } from '../../kernel/decimal.ts'
import { isExactObject, NumberText } from '../../kernel/exact-json.ts'
import { findProvider } from '../../models/providers/presets.ts'
import { isBaseUrl, settingsIn } from '../../models/providers/provider.ts'
import {
  addDeployment,
  addMisfit,
  type ExactTable,
  type ServerKey,
  type SourceContents,
} from './found.ts'
import { isTrue, jsonIn, type Row, textOf } from './tables.ts'

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

type Pricing = { ratios: Ratios; perUsd: bigint }

type Channels = { kind: GatewayKind; abilities: readonly Row[]; pricing: Pricing }

export function addChannels(
  found: SourceContents,
  channels: readonly Row[],
  { kind, abilities, pricing }: Channels,
): void {
  const off = new Set(abilities.filter((row) => !isTrue(row, 'enabled')).map(abilityOf))
  const on = new Set(abilities.filter((row) => isTrue(row, 'enabled')).map(abilityOf))
  for (const row of channels) {
    const isOff = (model: string) => {
      const pair = `${textOf(row, 'id')} ${model}`
      return off.has(pair) && !on.has(pair)
    }
    addChannel(found, row, { kind, pricing, isOff })
  }
}

const abilityOf = (row: Row): string => `${textOf(row, 'channel_id')} ${textOf(row, 'model')}`

type Channel = { kind: GatewayKind; pricing: Pricing; isOff(model: string): boolean }

function addChannel(found: SourceContents, row: Row, { kind, pricing, isOff }: Channel) {
  const name = `channel ${textOf(row, 'id')}`
  const type = textOf(row, 'type') ?? '0'
  const { misfits } = found
  const keys = keysOf(row, found)
  const provider = findProvider(types[kind][type] ?? '')
  if (textOf(row, 'status') !== '1') return addMisfit(misfits, 'a channel is off', name)
  if (!provider) return addMisfit(misfits, `a channel of type ${type}`, name)
  if (keys === undefined) return addMisfit(misfits, 'a channel with a key of another form', name)
  const base = baseOf(provider.id, textOf(row, 'base_url'))
  if (base === undefined && (settingsIn(provider).length > 0 || compatible.has(type))) {
    return addMisfit(misfits, 'a channel without a base_url', name)
  }
  if (base !== undefined && !isBaseUrl(base)) {
    return addMisfit(misfits, 'a channel whose base_url is not a plain URL', name)
  }
  for (const column of ['param_override', 'header_override', 'status_code_mapping'] as const) {
    if (!/^(|\{\})$/.test(textOf(row, column) ?? '')) {
      addMisfit(misfits, `${column} of a channel`, name)
    }
  }
  const json = jsonIn(row, 'model_mapping')
  const mapping = isExactObject(json) ? json : {}
  const models = (textOf(row, 'models') ?? '').split(',').map((model) => model.trim())
  const number = (column: string) => Number(textOf(row, column) ?? 0) || 0
  for (const id of models.filter((model) => model !== '' && !isOff(model))) {
    const mapped = mapping[id]
    const upstreamName = typeof mapped === 'string' && mapped !== '' ? mapped : id
    addDeployment(found.models, id, {
      ...{ provider, baseUrl: base, keys, upstreamName, publicNames: [upstreamName, id] },
      ...{ order: -number('priority'), weight: number('weight'), facts: factsOf(id, pricing) },
      isSold: true,
    })
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

/** A channel may have several keys, one a line; undefined for what is not a plain key. */
function keysOf(row: Row, { secrets }: SourceContents): ServerKey[] | undefined {
  const whole = textOf(row, 'key') ?? ''
  if (whole !== '') secrets.add(whole)
  const off = switchedOff(row)
  const lines = whole.split('\n').map((line) => line.trim())
  const keys = lines.filter((line, at) => line !== '' && !off.has(String(at)))
  for (const key of keys) secrets.add(key)
  // A key of parts, or a whole file of an account, belongs to a provider that has no preset here.
  if (keys.some((key) => /^[[{]|[|\s]/.test(key)) || (whole !== '' && keys.length === 0)) {
    return undefined
  }
  return [...new Set(keys)].slice(0, keysMost).map((secret) => ({ secret }))
}

/** The most keys of an upstream here. */
const keysMost = 32

/** The places of keys that new-api has switched off. */
function switchedOff(row: Row): Set<string> {
  const info = jsonIn(row, 'channel_info')
  const list = isExactObject(info) ? info['multi_key_status_list'] : undefined
  const states = isExactObject(list) ? Object.entries(list) : []
  return new Set(
    states.flatMap(([at, state]) =>
      state instanceof NumberText && state.text === '1' ? [] : [at],
    ),
  )
}

/** Prices as the options of the other gateway have them. */
export type Ratios = {
  model: ExactTable
  completion: ExactTable
  cache: ExactTable
  price: ExactTable
}

/**
 * A ratio is quota units a token; a price is dollars a call. A model without a ratio gets the
 * published price. A chat model with a ratio for its input alone is left out: its database does not
 * have the other gateway's built-in ratio for the output.
 */
function factsOf(id: string, { ratios, perUsd }: Pricing): ExactTable {
  const [price, ratio] = [decimalIn(ratios.price[id]), decimalIn(ratios.model[id])]
  const [completion, cache] = [decimalIn(ratios.completion[id]), decimalIn(ratios.cache[id])]
  if (price) {
    const free = new NumberText('0')
    const perCall = { input_cost_per_request: new NumberText(toText(price)) }
    return { input_cost_per_token: free, output_cost_per_token: free, ...perCall }
  }
  if (!ratio) return {}
  const part = (units: Decimal) => new NumberText(toText(inUsd(units, perUsd)))
  return {
    input_cost_per_token: part(ratio),
    ...(completion ? { output_cost_per_token: part(multiplyDecimals(ratio, completion)) } : {}),
    ...(cache ? { cache_read_input_token_cost: part(multiplyDecimals(ratio, cache)) } : {}),
  }
}

/** More places than a price has here: what is beyond them is rounded up, as prices are. */
const places = 24

function inUsd({ digits, scale }: Decimal, perUsd: bigint): Decimal {
  const scaled = digits * 10n ** BigInt(places)
  return { digits: (scaled + perUsd - 1n) / perUsd, scale: scale + places }
}

const decimalIn = (value: unknown): Decimal | undefined =>
  value instanceof NumberText ? parseDecimal(value.text) : undefined

const toText = ({ digits, scale }: Decimal): string => `${digits}e${-scale}`
