/** The lists of the configuration: upstreams, models and plans; webhooks stand beside. */
import type { Dialect } from '../models/protocols/dialect.ts'
import { isPerToken, ofEachRate, rateMeaning } from '../models/rate-fields.ts'
import { tokenizerNames } from '../models/tokenizers/tokenizer.ts'
import { isSigning, signingFault } from '../models/upstream/credentials.ts'
import type { WeightedKey } from '../models/upstream/key-pool.ts'
import type { EvidenceConfig } from '../models/upstream/signed-exchange.ts'
import { readDialect } from './dialect-entries.ts'
import { readEvidenceConfig } from './evidence-entries.ts'
import { type KeyEntry, readKeys } from './key-entries.ts'
import { amount } from './money-values.ts'
import { readList, refuseTwice } from './read-list.ts'
import { isTable, needed, optional, readTable, set, type ValuesOf } from './setting.ts'
import {
  decimal,
  filePath,
  flag,
  headerName,
  httpUrl,
  upstreamId as id,
  integer,
  listOf,
  oneOf,
  text,
  textTable,
} from './values.ts'
import { webhookFields } from './webhook-entries.ts'
import { witnessFields } from './witness-entries.ts'

export const words = text('text', 'text of 1 to 200 characters', /^\P{Cc}{1,200}$/u)
const tokens = integer('tokens', 0, 1_000_000_000)
const ms = integer('ms', 1, 86_400_000)

const headers = textTable('headers in lower case', headerName, /^[\t -~]{0,1024}$/)

const pusd = amount('pUSD')
const nusd = amount('nUSD')

/** The rates of the classes of units. */
const rates = ofEachRate((field, about) =>
  optional(isPerToken(field) ? pusd : nusd, rateMeaning(field, about)),
)

/** The fields of `[[models.bands]]`, `[[models.tiers]]` and of the `cost` of a step of a route. */
export const modelTables = {
  bands: {
    above_input_tokens: needed(tokens, 'The whole run has these rates when its input is above.'),
    ...rates,
  },
  tiers: {
    name: needed(id, 'What service_tier asks for; a run of it has these rates.'),
    ...rates,
  },
  step: {
    to: needed(words, 'The upstream:model.'),
    weight: optional(
      integer('parts', 1, 1_000_000),
      'Its share of the requests, against the steps with a weight beside it.',
    ),
  },
  cost: {
    ...rates,
    request_nusd: optional(nusd, 'Price of a run beside its units.'),
  },
} as const

/** The fields of each list's entries. */
export const lists = {
  upstreams: {
    id: needed(id, 'Name of the server in routes.'),
    kind: set(
      oneOf('openai', 'anthropic', 'responses'),
      'openai',
      'The API it speaks: Chat Completions, Messages or Responses.',
    ),
    base_url: needed(httpUrl, 'Where its API begins, mostly ending in /v1.'),
    auth: optional(
      oneOf('bearer', 'x-api-key', 'none', 'sigv4', 'google'),
      'How its key is sent; x-api-key for anthropic, else bearer, when absent. sigv4 signs for ' +
        'AWS, its key is ID:SECRET; google buys tokens by the JSON key of a service account.',
    ),
    region: optional(id, 'Region of AWS that sigv4 signs for; that of base_url when absent.'),
    service: optional(id, 'Service of AWS that sigv4 signs for; bedrock when absent.'),
    headers: optional(headers, 'Headers that it needs beside those of its API.'),
    headers_env: optional(
      textTable('headers', headerName, /^[A-Za-z_][A-Za-z0-9_]*$/),
      'The same with names of environment variables that hold the values.',
    ),
    query: optional(
      textTable('query parameters', /^[^\0&=#?]{1,64}$/, /^[^\0]{0,512}$/),
      'Query parameters of every request, such as an API version.',
    ),
    api_key_env: optional(
      text('name', 'the name of an environment variable', /^[A-Za-z_][A-Za-z0-9_]*$/),
      'Environment variable that holds its key, or with _FILE after it names a file of it.',
    ),
    api_key_file: optional(filePath, 'File that holds its key; readable by its owner only.'),
    timeout_first_byte_ms: optional(
      ms,
      'Longest wait for a first byte; absent, 60,000, or 300,000 where a model of its reasons.',
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
      'Whether clients read why it refuses a request; secrets, addresses and hosts are removed.',
    ),
    breaker_failures: set(
      integer('failures', 0, 1000),
      '5',
      'Failures in a row after which it may be left alone for breaker_cooldown_ms; 0 for never.',
    ),
    breaker_cooldown_ms: set(ms, '30_000', 'How long that is, before one request tries it again.'),
    status: optional(
      oneOf('live', 'disabled'),
      'Disabled, it is left out of all routes; a model that nothing else serves is disabled too.',
    ),
    max_in_flight: set(
      integer('requests', 1, 1_000_000),
      '2_048',
      'Requests it gets at once; accounts share them fairly.',
    ),
    max_wait_ms: set(ms, '5_000', 'Longest wait for a place among them, before 429 or 503.'),
  },
  models: {
    id: needed(words, 'The model as requests name it: owner/name. A built-in one is re-priced.'),
    name: optional(words, 'What people read; the id when absent.'),
    kind: optional(oneOf('chat', 'embedding'), 'What it does. Needed.'),
    context_tokens: optional(tokens, 'Most tokens in and out together. Needed.'),
    max_output_tokens: optional(tokens, 'Most tokens of an answer. Needed for chat.'),
    balance: optional(
      oneOf('order', 'weight', 'latency', 'cost', 'least-busy'),
      'Which of the steps with weights that stand together is asked first. When absent, weight ' +
        'where the first step has one, else order.',
    ),
    total_tokens_max: optional(
      tokens,
      'Most tokens in and out together where context_tokens is the limit of the input alone.',
    ),
    ...rates,
    input_pusd: optional(pusd, 'Price of an input token. Needed, 0 when free.'),
    output_pusd: optional(pusd, 'Price of an output token. Needed for chat.'),
    request_nusd: optional(nusd, 'Price of a run beside its units; 0 when absent.'),
    overhead_per_message: optional(
      tokens,
      'Most tokens an upstream adds to a message; has a default.',
    ),
    overhead_fixed: optional(tokens, 'Most tokens an upstream adds to a request; has a default.'),
    tokenizer: optional(
      oneOf(...tokenizerNames),
      'Counts the text of holds exactly, up to 256 KiB; it is loaded with the first request.',
    ),
    image_tokens_max: optional(tokens, 'Most tokens of an image. Absent, images are refused.'),
    page_tokens_max: optional(tokens, 'Most tokens of a page of a PDF. Absent, they are refused.'),
    pdf_pages_max: optional(
      integer('pages', 1, 10_000),
      'Most pages of a PDF that its server takes; 100 when absent.',
    ),
    hold_bytes_per_token: optional(
      integer('bytes', 1, 4),
      'Least bytes of a token that a hold goes by; above 1 at your own risk.',
    ),
    bytes_per_token: optional(
      decimal('bytes', 1, 16),
      'Bytes of a token where usage is counted; when absent, as reported runs say, else 4.',
    ),
    cache: optional(
      oneOf('auto', 'asked'),
      'When a server of Messages is told what to cache, for clients of other protocols: auto always, ' +
        'asked where the request has a prompt_cache_key. Writing costs cache_write. asked when absent.',
    ),
    on_disconnect: optional(
      oneOf('drain', 'cut'),
      'What a hang-up does: drain reads the answer to its end and charges it, cut stops the ' +
        'server. When absent, drain where reasoning is not streamed in full, else cut.',
    ),
    terminal: optional(flag, 'Whether the public terminal may use it; false when absent.'),
    pass: optional(listOf(words), 'Members of requests that also go on as they came.'),
    features: optional(listOf(words), 'What it can do: tools, vision, …'),
    owned_by: optional(words, 'Whose model it is; the owner in its id when absent.'),
    status: optional(oneOf('live', 'disabled', 'deprecated'), 'Live when absent.'),
  },
  plans: {
    id: needed(id, 'Name of the plan. free, builder and scale have values for all that follows.'),
    name: optional(words, 'What people read.'),
    price_nusd: optional(nusd, 'Price of a period.'),
    period: optional(oneOf('month', 'none'), 'How often it is paid.'),
    discount_bps: optional(integer('0.01 %', 0, 10_000), 'Off the price of every run.'),
    models: optional(listOf(words), 'Globs of the models it opens; all when absent.'),
  },
  webhooks: webhookFields,
  witnesses: witnessFields,
} as const

/** The table `limits` of a plan. */
export const planLimits = {
  rpm: optional(integer('requests/min', 1, 10_000_000), 'Requests of one key.'),
  concurrency: optional(integer('runs', 1, 1_000_000), 'Runs of one key at once.'),
  max_keys: optional(integer('keys', 1, 500), 'Active keys of an account.'),
  max_depth: optional(integer('levels', 0, 4), 'Levels of keys below a key.'),
  history_days: optional(integer('days', 1, 36_500), 'How far back runs are shown.'),
} as const

type UpstreamEntry = ValuesOf<typeof lists.upstreams>

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

/** A plan; an undefined member has the value that the plan's name has, or the usual one. */
export type PlanConfig = ValuesOf<typeof lists.plans> & { limits: ValuesOf<typeof planLimits> }

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
    const upstream = readTable(lists.upstreams, isTable(entry) ? own : entry, where, problems)
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

export function readPlans(raw: unknown, problems: string[]): PlanConfig[] {
  const plans = readList('plans', raw, problems, (entry, where) => {
    const { limits = {}, ...rest } = isTable(entry) ? entry : {}
    const plan = readTable(lists.plans, rest, where, problems)
    const read = readTable(planLimits, limits, `${where}.limits`, problems)
    return plan && read ? { ...plan, limits: read } : undefined
  })
  refuseTwice('plans', plans, problems)
  return plans
}
