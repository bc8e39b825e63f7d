/** Decides the configuration from flags, environment, file and defaults, or lists what is wrong. */
import { parse, TomlError } from 'smol-toml'
import { planFaults } from '../access/plan-config.ts'
import type { ShardEntry } from '../kernel/shard.ts'
import { aliasFaults } from '../models/aliases.ts'
import { makeCatalogue } from '../models/catalogue.ts'
import { faultsOf, type ModelConfig } from '../models/model-config.ts'
import { withoutDisabled } from './disabled-upstreams.ts'
import { lists } from './entries.ts'
import { readModels } from './model-entries.ts'
import { namesOf, rawIn } from './money-values.ts'
import { type PlanConfig, planLosses, readPlans } from './plan-entries.ts'
import { isTable, readValue, unknownKey, type ValuesOf } from './setting.ts'
import { findShards } from './shard-map.ts'
import { type Row, rows, table } from './table.ts'
import { type FindSecret, readUpstreams, type UpstreamConfig } from './upstream-entries.ts'
import { isLoopback } from './values.ts'
import { readWebhooks, type WebhookConfig } from './webhook-entries.ts'
import { readWitnesses, type WitnessConfig } from './witness-entries.ts'

type Sections = { [Section in keyof typeof table]: ValuesOf<(typeof table)[Section]> }

/** Everything an operator set, checked, under the names of the configuration file. */
export type Config = Omit<Sections[''], 'base_url' | 'database_url'> &
  Omit<Sections, ''> & {
    /** With port 0 in `listen` it ends in `:0`; the server fills in the real port. */
    base_url: string
    database_url: string
    upstreams: UpstreamConfig[]
    models: ModelConfig[]
    /** The plans beside the free one, and changes to that. */
    plans: PlanConfig[]
    /** Webhooks of the operator. */
    webhooks: WebhookConfig[]
    /** All shards, this one too; none without `[shard]`. */
    shards: ShardEntry[]
    /** Witnesses that sign the heads of the log. */
    witnesses: WitnessConfig[]
  }

export type Source = 'flag' | 'env' | 'file' | 'default'

export type LoadedConfig =
  | { config: Config; sources: Record<string, Source> }
  | { problems: string[] }

/** A file's text and permission bits, or why it cannot be read; undefined when there is no file. */
export type ReadFile = (path: string) => FileContent | { unreadable: string } | undefined
export type FileContent = { text: string; mode: number }

export type Inputs = {
  /** As commander's `opts()` returns them; other names are ignored. */
  flags: Record<string, unknown>
  env: Record<string, string | undefined>
  /** The configuration file, when there is one. */
  fileText: string | undefined
  filePath: string
  readFile: ReadFile
  /** Whether the keys of upstreams and the secrets of webhooks may be missing: nothing is sent. */
  isOffline?: boolean | undefined
}

/** Decides the configuration, or says everything that is wrong with it. No side effects. */
export function loadConfig(inputs: Inputs): LoadedConfig {
  const problems: string[] = []
  const file = parseFile(inputs, problems)
  for (const key of unknownFileKeys(file)) problems.push(`${inputs.filePath}: ${key}`)
  const sources: Record<string, Source> = {}
  const values: Record<string, unknown> = {}
  for (const row of rows) {
    const { source, name, raw } = findRaw(row, inputs, file, problems)
    sources[row.path] = source
    values[row.path] = readValue(row.setting, raw, name, problems)
  }
  const { '': top, ...rest } = toSections(values)
  const missing = inputs.isOffline ? [] : problems
  const secrets = secretsOf(inputs, missing)
  const entries = {
    upstreams: readUpstreams(file['upstreams'], secrets, problems).map((upstream) =>
      namesProxy(inputs.env) ? { ...upstream, is_proxied: true as const } : upstream,
    ),
    models: readModels(file['models'], problems),
    plans: readPlans(file['plans'], problems),
    webhooks: readWebhooks(
      file['webhooks'],
      {
        findSecret: ({ secret_env: env, secret_file: path }, where) =>
          findSecret('secret_', { env, file: path }, where, inputs, missing),
        allowNetworks: rest.outbound.allow_networks ?? [],
        isDev: inputs.flags['dev'] === true,
      },
      problems,
    ),
    witnesses: readWitnesses(file['witnesses'], rest.witness_policy.required ?? 0, problems),
  }
  // The ids as written, so that a faulty upstream does not make its models look faulty too.
  const upstreamIds = idsOf(file['upstreams'])
  const faults = faultsOf({ models: entries.models, upstreamIds })
  problems.push(...faults.map((fault) => `models: ${fault}`))
  problems.push(...aliasFaults(top.aliases, idsOf(file['models'])))
  for (const id of rest.telemetry.pass_to ?? []) {
    if (!upstreamIds.includes(id)) problems.push(`telemetry.pass_to names no upstream: "${id}"`)
  }
  problems.push(...unknownVariables(inputs.env, file))
  if (top.listen && !top.base_url && !isLoopback(top.listen.hostname)) {
    problems.push('base_url must be set to listen beyond loopback: it is the public origin')
  }
  const { chain, signer } = rest
  if (chain.second_rpc_urls?.some((url) => chain.rpc_urls?.includes(url))) {
    problems.push('chain.second_rpc_urls must be other servers than chain.rpc_urls')
  }
  if ((signer.keystore_file === undefined) !== (signer.password_file === undefined)) {
    problems.push('signer.keystore_file and signer.password_file belong together')
  }
  const shards = findShards(rest.shard, inputs.readFile, problems)
  problems.push(...planFaults(entries.plans).map((fault) => `plans: ${fault}`))
  if (problems.length > 0) return { problems }
  const models = withoutDisabled(entries.models, entries.upstreams)
  const losses = planLosses(entries.plans, makeCatalogue({ models, upstreamIds }).list())
  if (losses.length > 0) return { problems: losses.map((loss) => `plans: below cost: ${loss}`) }
  const config = {
    ...top,
    // URL drops port 80, as a browser does in the origins it sends.
    base_url: top.base_url ?? new URL(`http://localhost:${top.listen.port}`).origin,
    database_url:
      top.database_url ?? `sqlite:${top.data.replace(/(?<!\/)\/+$/, '')}/counterfoil.db`,
    ...rest,
    ...entries,
    models,
    shards,
  }
  return { config, sources }
}

/** Finds secrets; those that are missing go to the problems. */
const secretsOf = (inputs: Inputs, missing: string[]): FindSecret => ({
  key: ({ api_key_env: env, api_key_file: path }, where) =>
    findSecret('api_key_', { env, file: path }, where, inputs, missing),
  oneOf: ({ env, file: path }, where) =>
    findSecret('', { env, file: path }, where, inputs, missing),
  variable: (name, where) => findVariable(name, where, inputs, missing),
})

/** Whether Bun's `fetch` may go by a proxy: only it reads what the environment says of them. */
const namesProxy = (env: Inputs['env']): boolean =>
  ['http_proxy', 'https_proxy', 'all_proxy'].some((name) => env[name] || env[name.toUpperCase()])

/** Says where the text breaks, but never repeats it: it may hold a secret. */
function parseFile({ fileText, filePath }: Inputs, problems: string[]): Record<string, unknown> {
  if (fileText === undefined) return {}
  try {
    return parse(fileText, { integersAsBigInt: true, unsafeKeyBehaviour: 'throw' })
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    const reason = error.message.split('\n')[0]
    problems.push(`${filePath}:${error.line}:${error.column}: ${reason}`)
    return {}
  }
}

/** Values by dotted path as sections of values; a wrong value is undefined in it. */
function toSections(values: Record<string, unknown>): Sections {
  const valuesOf = (section: string) =>
    rows.filter((row) => row.section === section).map((row) => [row.name, values[row.path]])
  return Object.fromEntries(
    Object.keys(table).map((section) => [section, Object.fromEntries(valuesOf(section))]),
  ) as Sections
}

type SettingText = { source: Source; name: string; raw: unknown }

/** The source of a setting: flag, environment, file, else its default. */
function findRaw(
  row: Row,
  { flags, env, filePath, readFile }: Inputs,
  file: Record<string, unknown>,
  problems: string[],
): SettingText {
  const { reader, secret } = row.setting
  const flag = flags[row.option]
  if (typeof flag === 'string')
    return { source: 'flag', name: row.flag, raw: reader.fromText(flag) }
  const value = env[row.env]
  const fileName = secret ? env[`${row.env}_FILE`] : undefined
  if (value && fileName) problems.push(`set ${row.env} or ${row.env}_FILE, not both`)
  if (value) return { source: 'env', name: row.env, raw: reader.fromText(value) }
  if (fileName) {
    const name = `${row.env}_FILE`
    const text = readSecret(fileName, name, readFile, problems)
    return { source: 'env', name, raw: text && reader.fromText(text) }
  }
  const section = row.section === '' ? file : file[row.section]
  const where = `${filePath}: ${row.section === '' ? '' : `${row.section}.`}`
  const table = isTable(section) ? section : {}
  const { raw, label } = rawIn(table, row.name, where, problems)
  return { source: raw === undefined ? 'default' : 'file', name: label, raw }
}

/** Reads the value that an entry names as `…_env` or `…_file`; undefined without either. */
function findSecret(
  what: 'api_key_' | 'secret_' | '',
  { env: name, file: path }: { env: string | undefined; file: string | undefined },
  where: string,
  inputs: Inputs,
  problems: string[],
): string | undefined {
  if (name && path) problems.push(`${where}: set ${what}env or ${what}file, not both`)
  if (path) return readSecret(path, `${where}.${what}file`, inputs.readFile, problems)
  return name ? findVariable(name, `${where}.${what}env`, inputs, problems) : undefined
}

/** The value of an environment variable, or of the file that it names with `_FILE` behind it. */
function findVariable(
  name: string,
  where: string,
  { env, readFile }: Inputs,
  problems: string[],
): string | undefined {
  const fileName = env[`${name}_FILE`]
  if (env[name] && fileName) problems.push(`set ${name} or ${name}_FILE, not both`)
  if (env[name]) return env[name]
  if (fileName) return readSecret(fileName, `${name}_FILE`, readFile, problems)
  problems.push(`${where}: neither ${name} nor ${name}_FILE is set`)
  return undefined
}

/** The first line of a file that only its owner may read. */
function readSecret(path: string, name: string, readFile: ReadFile, problems: string[]) {
  const found = readFile(path)
  const wrong =
    found === undefined
      ? `cannot read ${path}`
      : 'unreadable' in found
        ? `cannot read ${path}: ${found.unreadable}`
        : found.mode & 0o077
          ? `${path} can be read by others; chmod 600 it`
          : found.text.trim() === ''
            ? `${path} is empty`
            : undefined
  if (wrong === undefined && found && 'text' in found) return found.text.trim()
  problems.push(`${name}: ${wrong}`)
  return undefined
}

/** Misspelt keys of the file, each with its nearest neighbour. */
function unknownFileKeys(file: Record<string, unknown>): string[] {
  const out: string[] = []
  const topLevel = [...Object.keys(table['']), ...Object.keys(table), ...Object.keys(lists)]
  for (const [key, value] of Object.entries(file)) {
    const section = rows.filter((row) => row.section === key && key !== '')
    if (section.length === 0) {
      if (key === '' || !topLevel.includes(key)) out.push(unknownKey(key, key, topLevel))
      continue
    }
    if (!isTable(value)) {
      out.push(`${key} must be a table: [${key}]`)
      continue
    }
    const names = section.flatMap((row) => namesOf(row.name))
    for (const name of Object.keys(value)) {
      if (!names.includes(name)) out.push(unknownKey(`${key}.${name}`, name, names))
    }
  }
  return out
}

/** Variables that are not settings. */
const freeNames = ['COUNTERFOIL_CONFIG', 'COUNTERFOIL_KEY', 'COUNTERFOIL_SIGNER_KEY']

/**
 * Misspelt variables. `COUNTERFOIL_KEY` is a client's; Kubernetes adds `…_SERVICE_*` and
 * `…_PORT*` for a service of our name.
 */
function unknownVariables(
  env: Record<string, string | undefined>,
  file: Record<string, unknown>,
): string[] {
  const known = rows.flatMap(({ env, setting }) => (setting.secret ? [env, `${env}_FILE`] : [env]))
  const named = [file['upstreams'], file['webhooks']].flatMap((list) =>
    Array.isArray(list)
      ? list.flatMap((one) => [one?.api_key_env, one?.secret_env, ...variablesOf(one?.keys)])
      : [],
  )
  const others = named.flatMap((name) => [name, `${name}_FILE`])
  const free = new Set([...known, ...others, ...freeNames])
  return Object.keys(env)
    .filter((name) => name.startsWith('COUNTERFOIL_') && !free.has(name))
    .filter((name) => !/^COUNTERFOIL_(SERVICE_|PORT(_|$))/.test(name))
    .map((name) => unknownKey(name, name, known).replace('key', 'variable'))
}

/** The variables that several keys name. */
const variablesOf = (keys: unknown): unknown[] =>
  Array.isArray(keys) ? keys.map((key) => key?.env) : []

const idsOf = (raw: unknown): string[] =>
  Array.isArray(raw) ? raw.map((entry) => String(entry?.id)) : []
