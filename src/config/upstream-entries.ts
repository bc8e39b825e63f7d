/** The list of upstreams: the model servers that runs are sent to. */
import type { Dialect } from '../models/protocols/dialect.ts'
import { isSigning, signingFault } from '../models/upstream/credentials.ts'
import type { WeightedKey } from '../models/upstream/key-pool.ts'
import type { EvidenceConfig } from '../models/upstream/signed-exchange.ts'
import { readDialect } from './dialect-entries.ts'
import { readEvidenceConfig } from './evidence-entries.ts'
import { type KeyEntry, readKeys } from './key-entries.ts'
import { readList, refuseTwice } from './read-list.ts'
import { isTable, needed, optional, readTable, set, type ValuesOf } from './setting.ts'
import {
  filePath,
  flag,
  headerName,
  httpUrl,
  upstreamId as id,
  integer,
  oneOf,
  text,
  textTable,
} from './values.ts'

const ms = integer('ms', 1, 86_400_000)

const headers = textTable('headers in lower case', headerName, /^[\t -~]{0,1024}$/)

/** The fields of `[[upstreams]]`. */
export const upstreamFields = {
  id: needed(id, 'Name of the server in routes.'),
  kind: set(
    oneOf('openai', 'anthropic', 'responses'),
    'openai',
    'The API it speaks: Chat Completions, Messages or Responses.',
  ),
  base_url: needed(httpUrl, 'Where its API begins, mostly ending in /v1.'),
  auth: optional(
    oneOf('bearer', 'x-api-key', 'none', 'sigv4', 'google'),
    'How its key is sent. Default: x-api-key for anthropic, else bearer. sigv4 signs requests ' +
      "for AWS with the key ID:SECRET; google buys tokens with a service account's JSON key.",
  ),
  region: optional(id, 'AWS region that sigv4 signs for. Default: the one in base_url.'),
  service: optional(id, 'AWS service that sigv4 signs for. Default: bedrock.'),
  headers: optional(headers, 'Further headers of every request to it.'),
  headers_env: optional(
    textTable('headers', headerName, /^[A-Za-z_][A-Za-z0-9_]*$/),
    'Further headers whose values are in the environment variables named here.',
  ),
  query: optional(
    textTable('query parameters', /^[^\0&=#?]{1,64}$/, /^[^\0]{0,512}$/),
    'Query parameters of every request, such as an API version.',
  ),
  api_key_env: optional(
    text('name', 'the name of an environment variable', /^[A-Za-z_][A-Za-z0-9_]*$/),
    'Environment variable with its key; with _FILE after its name, the path of a file with it.',
  ),
  api_key_file: optional(filePath, 'File that holds its key; readable by its owner only.'),
  timeout_first_byte_ms: optional(
    ms,
    'Longest wait for a first byte. Default: 60,000; 300,000 if a model of it reasons.',
  ),
  timeout_idle_ms: set(ms, '60_000', 'Longest silence inside an answer.'),
  timeout_total_ms: set(
    ms,
    '600_000',
    'Longest whole answer; of a stream, the longest time without anything new in it.',
  ),
  relay_messages: set(
    flag,
    'true',
    'Whether clients read why it refused a request, without secrets, addresses and hosts.',
  ),
  breaker_failures: set(
    integer('failures', 0, 1000),
    '5',
    'Failures in a row that may open its breaker for breaker_cooldown_ms; 0 turns it off.',
  ),
  breaker_cooldown_ms: set(
    ms,
    '30_000',
    'How long an open breaker waits before one request tries it again.',
  ),
  status: optional(
    oneOf('live', 'disabled'),
    'Default: live. disabled leaves it out of all routes, and disables models it alone serves.',
  ),
  max_in_flight: set(
    integer('requests', 1, 1_000_000),
    '2_048',
    'Concurrent requests to it; accounts share them fairly. Others wait.',
  ),
  max_wait_ms: set(
    ms,
    '5_000',
    'Longest wait for a place among these requests, before 429 or 503.',
  ),
  share_connections: set(
    flag,
    'false',
    'Whether accounts share its kept connections, which saves handshakes. Only for a server that ' +
      'is trusted never to send an answer twice.',
  ),
} as const

type UpstreamEntry = ValuesOf<typeof upstreamFields>

/** A place where models run, its key and the values of its headers at hand. */
export type UpstreamConfig = Omit<UpstreamEntry, 'api_key_env' | 'api_key_file'> & {
  /** Its first key. */
  api_key: string | undefined
  /** Set where it has several. */
  keys?: readonly WeightedKey[]
  /** Headers from `headers_env`, which are secret. */
  secret_headers: { readonly [name: string]: string }
  /** Whether the environment names a proxy. */
  is_proxied?: true
  /** Set where it signs its answers. */
  attest?: EvidenceConfig
  /** Set where the operator says what it takes of its protocol. */
  dialect?: Dialect
}

/** Finds what an upstream needs to know secretly; undefined after adding to the problems. */
export type FindSecret = {
  key(entry: UpstreamEntry, where: string): string | undefined
  /** One of several keys. */
  oneOf(entry: KeyEntry, where: string): string | undefined
  /** The value of an environment variable. */
  variable(name: string, where: string): string | undefined
}

export function readUpstreams(
  raw: unknown,
  secrets: FindSecret,
  problems: string[],
): UpstreamConfig[] {
  const upstreams = readList('upstreams', raw, problems, (entry, where) => {
    const { attest: signs, dialect: spoken, keys: several, ...own } = isTable(entry) ? entry : {}
    const upstream = readTable(upstreamFields, isTable(entry) ? own : entry, where, problems)
    if (!upstream) return undefined
    const { kind } = upstream
    const attest =
      signs === undefined ? undefined : readEvidenceConfig(signs, kind, `${where}.attest`, problems)
    const dialect =
      spoken === undefined ? undefined : readDialect(spoken, kind, `${where}.dialect`, problems)
    const { api_key_env: single, api_key_file: file, ...rest } = upstream
    const keys =
      several === undefined ? undefined : readKeys(several, secrets.oneOf, where, problems)
    if (keys && (single ?? file)) {
      problems.push(`${where}: keys stands in the place of api_key_env and api_key_file`)
    }
    if (keys && attest) problems.push(`${where}: an upstream that signs its answers has one key`)
    const key = keys ? keys[0]?.key : secrets.key(upstream, where)
    const fault = signingFault(upstream, key)
    if (fault !== undefined) problems.push(`${where}: ${fault}`)
    if (isSigning(upstream.auth) && ((keys && keys.length > 1) || attest)) {
      problems.push(`${where}: with auth = "${upstream.auth}" it has one key and no attest`)
    }
    const named = Object.entries(rest.headers_env ?? {}).map(([header, variable]) => [
      header,
      secrets.variable(variable, `${where}.headers_env`) ?? '',
    ])
    return {
      ...rest,
      ...(attest && { attest }),
      ...(dialect && { dialect }),
      ...(keys && keys.length > 1 && { keys }),
      api_key: key,
      secret_headers: Object.fromEntries(named),
    }
  })
  refuseTwice('upstreams', upstreams, problems)
  return upstreams
}
