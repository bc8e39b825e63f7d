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
    above_input_tokens: needed(tokens, 'Input above which the whole run has these rates.'),
    ...rates,
  },
  tiers: {
    name: needed(id, 'Value of service_tier whose runs have these rates.'),
    ...rates,
  },
  step: {
    to: needed(words, 'upstream:model.'),
    weight: optional(
      integer('parts', 1, 1_000_000),
      'Share of the requests, relative to neighbouring steps with a weight.',
    ),
  },
  cost: {
    ...rates,
    request_nusd: optional(nusd, 'Price of a run in addition to its units.'),
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
  },
  models: {
    id: needed(
      words,
      'Name in requests: owner/name. The id of a built-in model changes its price.',
    ),
    name: optional(words, 'Name on pages. Default: its id.'),
    kind: optional(oneOf('chat', 'embedding'), 'Kind of model. Needed.'),
    context_tokens: optional(tokens, 'Most tokens in and out together. Needed.'),
    max_output_tokens: optional(tokens, 'Most tokens of an answer. Needed for chat.'),
    balance: optional(
      oneOf('order', 'weight', 'latency', 'cost', 'least-busy'),
      'How the next step is chosen among neighbours with weights. Default: weight if the first ' +
        'step has one, else order.',
    ),
    total_tokens_max: optional(
      tokens,
      'Most tokens in and out together, if context_tokens limits the input alone.',
    ),
    ...rates,
    input_pusd: optional(pusd, 'Price of an input token. Needed, 0 when free.'),
    output_pusd: optional(pusd, 'Price of an output token. Needed for chat.'),
    request_nusd: optional(nusd, 'Price of a run in addition to its units. Default: 0.'),
    overhead_per_message: optional(
      tokens,
      'Most tokens that an upstream adds to a message; has a default.',
    ),
    overhead_fixed: optional(tokens, 'Most tokens that an upstream adds to a request.'),
    tokenizer: optional(
      oneOf(...tokenizerNames),
      'Vocabulary that counts the text of holds exactly, up to 256 KiB. Default: bytes bound it.',
    ),
    image_tokens_max: optional(tokens, 'Most tokens of an image. Default: images are refused.'),
    page_tokens_max: optional(tokens, 'Most tokens of a page of a PDF. Default: PDFs are refused.'),
    pdf_pages_max: optional(
      integer('pages', 1, 10_000),
      'Most pages of a PDF that its server takes. Default: 100.',
    ),
    hold_bytes_per_token: optional(
      integer('bytes', 1, 4),
      'Bytes of text that a hold counts as one token; above 1 at your own risk. Default: 1.',
    ),
    bytes_per_token: optional(
      decimal('bytes', 1, 16),
      'Bytes of a token if usage must be counted. Default: measured in reported runs, else 4.',
    ),
    cache: optional(
      oneOf('auto', 'asked'),
      'When a Messages server gets cache breakpoints for clients of other protocols: auto ' +
        'always, asked if the request has a prompt_cache_key. Writes cost cache_write. ' +
        'Default: asked.',
    ),
    on_disconnect: optional(
      oneOf('drain', 'cut'),
      'Effect of a hang-up: drain reads the answer to its end and charges it, cut stops the ' +
        'server. Default: drain if reasoning is not streamed in full, else cut.',
    ),
    terminal: optional(flag, 'Whether the public terminal may use it. Default: false.'),
    pass: optional(listOf(words), 'Members of requests to forward unchanged.'),
    features: optional(listOf(words), 'Features: tools, vision, reasoning, …'),
    owned_by: optional(words, 'Owner of the model. Default: the owner in its id.'),
    status: optional(
      oneOf('live', 'disabled', 'deprecated'),
      'Default: live. deprecated models still run.',
    ),
  },
  plans: {
    id: needed(
      id,
      'Name of the plan. free, builder and scale have defaults for all other settings.',
    ),
    name: optional(words, 'Name on pages.'),
    price_nusd: optional(nusd, 'Price of a period.'),
    period: optional(oneOf('month', 'none'), 'How often it is paid; none: once.'),
    discount_bps: optional(
      integer('0.01 %', 0, 10_000),
      'Discount on every run of a model without its own.',
    ),
    models: optional(
      listOf(words),
      'Models in the plan, as globs, or tables with a discount of their own. Default: all.',
    ),
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
