/** Reads LiteLLM's `config.yaml`: model_list, aliases, what has no place here. */
import { type ExactJson, isExactObject, NumberText } from '../../kernel/exact-json.ts'
import { isBaseUrl, settingsIn } from '../../models/providers/provider.ts'
import {
  addDeployment,
  addMisfit,
  type ExactTable,
  nothingFound,
  type ServerKey,
  type SourceContents,
} from './found.ts'
import { baseUrlOf, providerOf } from './litellm-providers.ts'

/** Variables by their names. */
export type Environment = { readonly [name: string]: string | undefined }

/** @throws Error when it is another file, or names a variable that is not set */
export function readLitellmConfig(json: ExactJson, env: Environment): SourceContents {
  const list = isExactObject(json) ? json['model_list'] : undefined
  if (!isExactObject(json) || !Array.isArray(list)) throw new Error('it has no model_list')
  const context = { credentials: credentialsIn(json['credential_list']), env, unset: new Map() }
  const found = nothingFound()
  for (const secret of secretsIn(json)) found.secrets.add(secret)
  for (const [at, entry] of list.entries()) addEntry(found, entry, at + 1, context)
  assertSet(context.unset)
  for (const [name, target] of aliasesIn(json)) found.aliases[name] = target
  noteRest(json, found)
  return found
}

/** Every text below a name that says what it is, whether or not it is used here. */
function* secretsIn(value: ExactJson, isSecret = false): Generator<string> {
  if (typeof value === 'string' && isSecret && !environ.test(value)) yield value
  if (Array.isArray(value)) for (const one of value) yield* secretsIn(one, isSecret)
  if (!isExactObject(value)) return
  for (const [name, one] of Object.entries(value)) {
    yield* secretsIn(one, isSecret || (ofSecrets.test(name) && !ofOthers.test(name)))
  }
}

const ofSecrets = /key|secret|token|password|authorization|_credentials$/i
const ofOthers = /_per_|tokens|tokenizer|^key_|^use_/i

type Context = {
  credentials: ReadonlyMap<string, ExactTable>
  env: Environment
  /** Models by variables that are not set here. */
  unset: Map<string, string>
}

/** @throws Error that names every variable which is not set */
function assertSet(unset: ReadonlyMap<string, string>): void {
  if (unset.size === 0) return
  const names = [...unset].map(([name, id]) => `${name} (api_base of ${id})`).join(', ')
  const why = `its servers are in variables that are not set here: ${names}`
  throw new Error(`${why}. Set each to the address, such as ${[...unset.keys()][0]}=https://…`)
}

/** @throws Error for an entry without its two names */
function addEntry(found: SourceContents, entry: ExactJson, at: number, context: Context) {
  const { misfits } = found
  const id = isExactObject(entry) ? textIn(entry['model_name']) : undefined
  const own = isExactObject(entry) ? entry['litellm_params'] : undefined
  const name = isExactObject(own) ? textIn(own['model']) : undefined
  if (!isExactObject(entry) || !isExactObject(own) || id === undefined || name === undefined) {
    throw new Error(`model_list[${at}] needs a model_name and litellm_params with a model`)
  }
  const named = textIn(own['litellm_credential_name']) ?? ''
  const params = { ...context.credentials.get(named), ...own }
  const info = isExactObject(entry['model_info']) ? entry['model_info'] : {}
  const key = keyOf(params['api_key'])
  if (/\*/.test(id + name)) return addMisfit(misfits, 'a wildcard has no price', id)
  const server = providerOf(name, textIn(params['custom_llm_provider']))
  if (typeof server === 'string') return addMisfit(misfits, `${server} has no preset here`, id)
  const { provider } = server
  const base = addressIn(params['api_base'] ?? params['base_url'], id, context)
  if (base !== undefined && !isBaseUrl(base)) {
    const why = 'an api_base that is not a plain URL: one with a password or a query is not copied'
    return addMisfit(misfits, why, id)
  }
  const baseUrl = baseUrlOf(provider, base)
  if (baseUrl === undefined && settingsIn(provider).length > 0) {
    return addMisfit(misfits, `${provider.name} needs an api_base in the file`, id)
  }
  for (const limit of ['rpm', 'tpm', 'max_parallel_requests'] as const) {
    if (params[limit] !== undefined) addMisfit(misfits, `${limit} of a deployment`, id)
  }
  const like = textIn(info['base_model']) ?? textIn(params['base_model'])
  const [usual] = provider.keyEnv ?? []
  addDeployment(found.models, id, {
    ...{ provider, baseUrl, keys: key ? [key] : usual === undefined ? [] : [{ variable: usual }] },
    ...{ upstreamName: server.name, facts: factsOf(params, info) },
    ...{ order: numberIn(params['order']) ?? Infinity, weight: numberIn(params['weight']) ?? 1 },
    publicNames: [...(like === undefined ? [] : [like]), name, server.name],
  })
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

function keyOf(value: ExactJson | undefined): ServerKey | undefined {
  const text = textIn(value)
  const variable = environ.exec(text ?? '')?.[1]
  if (variable !== undefined) return { variable }
  return text === undefined ? undefined : { secret: text }
}

/** A text, or the value of the variable that it names. */
function addressIn(value: ExactJson | undefined, id: string, { env, unset }: Context) {
  const text = textIn(value)
  const variable = environ.exec(text ?? '')?.[1]
  if (variable === undefined) return text
  if (!env[variable]) unset.set(variable, id)
  return env[variable]
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
const unknown = [
  'max_budget',
  'fallbacks',
  'context_window_fallbacks',
  'content_policy_fallbacks',
  'callbacks',
]

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
