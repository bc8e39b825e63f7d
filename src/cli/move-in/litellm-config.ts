/** Reads LiteLLM's `config.yaml`: model_list, aliases, what has no place here. */
import { type ExactJson, isExactObject, NumberText } from '../../kernel/exact-json.ts'
import { settingsIn } from '../../models/providers/provider.ts'
import { parseExactYaml } from './exact-yaml.ts'
import {
  addDeployment,
  addMisfit,
  type Deployment,
  type ExactTable,
  nothingFound,
  type ServerKey,
  type SourceContents,
} from './found.ts'
import { baseUrlOf, providerOf } from './litellm-providers.ts'

/** @throws Error when it is another file */
export async function readLitellmConfig(text: string): Promise<SourceContents> {
  const json = await parseExactYaml(text)
  const list = isExactObject(json) ? json['model_list'] : undefined
  if (!isExactObject(json) || !Array.isArray(list)) throw new Error('it has no model_list')
  const found = nothingFound()
  const credentials = credentialsIn(json['credential_list'])
  const ranked = list.flatMap((entry, at) => readEntry(entry, at + 1, credentials, found.misfits))
  const ordered = ranked.sort((a, b) => a.order - b.order || b.weight - a.weight)
  for (const { id, deployment } of ordered) addDeployment(found.models, id, deployment)
  for (const [name, target] of aliasesIn(json)) found.aliases[name] = target
  noteRest(json, found)
  return found
}

type Ranked = { id: string; deployment: Deployment; order: number; weight: number }

/** @throws Error for an entry without its two names */
function readEntry(
  entry: ExactJson,
  at: number,
  credentials: ReadonlyMap<string, ExactTable>,
  misfits: SourceContents['misfits'],
): Ranked[] {
  const id = isExactObject(entry) ? textIn(entry['model_name']) : undefined
  const own = isExactObject(entry) ? entry['litellm_params'] : undefined
  const name = isExactObject(own) ? textIn(own['model']) : undefined
  if (!isExactObject(entry) || !isExactObject(own) || id === undefined || name === undefined) {
    throw new Error(`model_list[${at}] needs a model_name and litellm_params with a model`)
  }
  const params = { ...credentials.get(textIn(own['litellm_credential_name']) ?? ''), ...own }
  const info = isExactObject(entry['model_info']) ? entry['model_info'] : {}
  if (/\*/.test(id + name)) {
    addMisfit(misfits, 'a wildcard has no price', id)
    return []
  }
  const named = providerOf(name, textIn(params['custom_llm_provider']))
  if (typeof named === 'string') {
    addMisfit(misfits, `${named} has no preset here`, id)
    return []
  }
  const { provider } = named
  const baseUrl = baseUrlOf(provider, namedValue(params['api_base'] ?? params['base_url']))
  if (baseUrl === undefined && settingsIn(provider).length > 0) {
    addMisfit(misfits, `${provider.name} needs an api_base in the file`, id)
    return []
  }
  for (const limit of ['rpm', 'tpm', 'max_parallel_requests', 'weight'] as const) {
    if (params[limit] !== undefined) {
      addMisfit(misfits, `${limit} of a deployment: steps are asked in order`, id)
    }
  }
  const base = textIn(info['base_model']) ?? textIn(params['base_model'])
  const publicNames = [...(base === undefined ? [] : [base]), name, named.name]
  const deployment: Deployment = {
    ...{ provider, baseUrl, key: keyOf(params['api_key'], provider.keyEnv) },
    ...{ upstreamName: named.name, publicNames, facts: factsOf(params, info) },
  }
  const weight = numberIn(params['weight']) ?? 1
  return [{ id, deployment, order: numberIn(params['order']) ?? Infinity, weight }]
}

/** Tells the names of facts about prices and limits. */
const isFact = (name: string): boolean =>
  /cost|pricing|^mode$|^max_(input_|output_)?tokens$|^supports_|^supported_output/.test(name)

function factsOf(params: ExactTable, info: ExactTable): ExactTable {
  // `max_tokens` of the parameters is what a request asks for, not what the model has.
  const { max_tokens: _, ...rest } = params
  const pairs = [...Object.entries(rest), ...Object.entries(info)]
  return Object.fromEntries(pairs.filter(([name, value]) => isFact(name) && value !== null))
}

const environ = /^os\.environ\/([A-Za-z_]\w*)$/

/** A key; without one LiteLLM reads the usual variable of the provider. */
function keyOf(value: ExactJson | undefined, usual: readonly string[] = []): ServerKey | undefined {
  const text = textIn(value)
  const variable = text === undefined ? usual[0] : environ.exec(text)?.[1]
  if (variable !== undefined) return { variable }
  return text === undefined ? undefined : { secret: text }
}

/** A text, or the value of the variable that it names. */
function namedValue(value: ExactJson | undefined): string | undefined {
  const text = textIn(value)
  const variable = environ.exec(text ?? '')?.[1]
  return variable === undefined ? text : process.env[variable]
}

function credentialsIn(list: ExactJson | undefined): Map<string, ExactTable> {
  const credentials = new Map<string, ExactTable>()
  for (const one of Array.isArray(list) ? list : []) {
    const values = isExactObject(one) ? one['credential_values'] : undefined
    const name = isExactObject(one) ? textIn(one['credential_name']) : undefined
    if (name !== undefined && isExactObject(values)) credentials.set(name, values)
  }
  return credentials
}

function aliasesIn(json: ExactTable): [string, string][] {
  const of = (section: string, name: string): ExactTable => {
    const table = json[section]
    const inner = isExactObject(table) ? table[name] : undefined
    return isExactObject(inner) ? inner : {}
  }
  const all = {
    ...of('litellm_settings', 'model_alias_map'),
    ...of('router_settings', 'model_group_alias'),
  }
  return Object.entries(all).flatMap(([name, target]): [string, string][] => {
    const to = textIn(isExactObject(target) ? target['model'] : target)
    return to === undefined ? [] : [[name, to]]
  })
}

/** Settings that change who answers, or at what price, and have no counterpart. */
const unknown = ['fallbacks', 'context_window_fallbacks', 'content_policy_fallbacks', 'callbacks']

function noteRest(json: ExactTable, { misfits }: SourceContents): void {
  for (const section of ['litellm_settings', 'router_settings', 'general_settings']) {
    const table = json[section]
    for (const name of isExactObject(table) ? Object.keys(table) : []) {
      if (unknown.includes(name)) addMisfit(misfits, 'a setting without a counterpart', name)
    }
  }
  for (const name of ['include', 'guardrails', 'mcp_servers', 'vector_store_registry']) {
    if (json[name] !== undefined) addMisfit(misfits, 'a setting without a counterpart', name)
  }
}

const textIn = (value: ExactJson | undefined): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined

const numberIn = (value: ExactJson | undefined): number | undefined =>
  value instanceof NumberText ? Number(value.text) : undefined
