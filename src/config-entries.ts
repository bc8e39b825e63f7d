import { isTable, needed, optional, readTable, set, type ValuesOf } from './config-setting.ts'
import { amount, filePath, flag, httpUrl, integer, listOf, oneOf, text } from './config-values.ts'

const id = text('id', 'an id of a-z, 0-9, dot, dash and underscore', /^[a-z0-9][a-z0-9._-]{0,63}$/)
const words = text('text', 'text of 1 to 200 characters', /^\P{Cc}{1,200}$/u)
const modelId = text('owner/name', 'owner/name', /^[a-z0-9._-]+\/[A-Za-z0-9._:@-]{1,128}$/)
const routeStep = text('upstream:model', 'upstream:model', /^[a-z0-9][a-z0-9._-]*:.+$/)
const tokens = integer('tokens', 0, 1_000_000_000)
const ms = integer('ms', 1, 86_400_000)

/** What an entry of each list may say. */
export const lists = {
  upstreams: {
    id: needed(id, 'Name of the server in routes.'),
    base_url: needed(httpUrl, 'Where its OpenAI-compatible API begins, mostly ending in /v1.'),
    api_key_env: optional(
      text('name', 'the name of an environment variable', /^[A-Za-z_][A-Za-z0-9_]*$/),
      'Environment variable that holds its key.',
    ),
    api_key_file: optional(filePath, 'File that holds its key; readable by its owner only.'),
    timeout_first_byte_ms: set(ms, '60_000', 'Longest wait for the first byte of an answer.'),
    timeout_idle_ms: set(ms, '60_000', 'Longest silence inside an answer.'),
    timeout_total_ms: set(ms, '600_000', 'Longest answer.'),
  },
  models: {
    id: needed(modelId, 'The model as requests name it.'),
    name: optional(words, 'What people read; the id when absent.'),
    route: set(listOf(routeStep), '', 'Where it runs, tried in order before the first byte.'),
    kind: set(oneOf('chat', 'embedding'), 'chat', 'What it does.'),
    context_tokens: set(tokens, '0', 'Most tokens in and out together; needed with a route.'),
    max_output_tokens: set(tokens, '0', 'Most tokens of an answer; needed for a routed chat.'),
    input_pusd: needed(amount('pUSD'), 'Price of an input token.'),
    output_pusd: optional(amount('pUSD'), 'Price of an output token; needed for chat.'),
    request_nusd: set(amount('nUSD'), '0', 'Price of a run, beside its tokens.'),
    overhead_per_message: set(tokens, '16', 'Tokens the upstream adds to each message, at most.'),
    overhead_fixed: set(tokens, '64', 'Tokens the upstream adds to each request, at most.'),
    terminal: set(flag, 'false', 'Whether the public terminal may use it.'),
    features: optional(listOf(words), 'What it can do: tools, vision, …'),
    owned_by: optional(words, 'Whose model it is; the owner in its id when absent.'),
    status: set(oneOf('live', 'disabled', 'deprecated'), 'live', 'Whether it takes runs.'),
  },
  plans: {
    id: needed(id, 'Name of the plan; one of free, builder, scale changes that plan.'),
    name: optional(words, 'What people read.'),
    price_nusd: optional(amount('nUSD'), 'Price of a period.'),
    period: optional(oneOf('month', 'none'), 'How often it is paid.'),
    discount_bps: optional(integer('0.01 %', 0, 10_000), 'Off the price of every run.'),
    models: optional(listOf(words), 'Globs of the models it opens; all when absent.'),
  },
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

/** A place where models run, its key at hand. */
export type UpstreamConfig = Omit<UpstreamEntry, 'api_key_env' | 'api_key_file'> & {
  api_key: string | undefined
}

/** A model of the configuration, or the prices of a built-in one, as the file names them. */
export type ModelConfig = ValuesOf<typeof lists.models>

/** A plan, or what changes in one of the default plans; undefined leaves the default. */
export type PlanConfig = ValuesOf<typeof lists.plans> & { limits: ValuesOf<typeof planLimits> }

/** Finds the key of an upstream; undefined after adding to the problems. */
export type FindSecret = (entry: UpstreamEntry, where: string) => string | undefined

export function readUpstreams(
  raw: unknown,
  findKey: FindSecret,
  problems: string[],
): UpstreamConfig[] {
  return readList('upstreams', raw, problems, (entry, where) => {
    const upstream = readTable(lists.upstreams, entry, where, problems)
    if (!upstream) return undefined
    const { api_key_env: _, api_key_file: __, ...rest } = upstream
    return { ...rest, api_key: findKey(upstream, where) }
  })
}

export function readPlans(raw: unknown, problems: string[]): PlanConfig[] {
  return readList('plans', raw, problems, (entry, where) => {
    const { limits = {}, ...rest } = isTable(entry) ? entry : {}
    const plan = readTable(lists.plans, rest, where, problems)
    const read = readTable(planLimits, limits, `${where}.limits`, problems)
    return plan && read ? { ...plan, limits: read } : undefined
  })
}

/** `upstreams` are the ids that routes may name. */
export function readModels(
  raw: unknown,
  upstreams: readonly string[],
  problems: string[],
): ModelConfig[] {
  return readList('models', raw, problems, (entry, where) => {
    const model = readTable(lists.models, entry, where, problems)
    if (!model) return undefined
    const label = `${where} (${model.id})`
    const need = (name: keyof ModelConfig) => problems.push(`${label}.${name} is missing`)
    if (model.kind === 'chat' && model.output_pusd === undefined) need('output_pusd')
    if (model.id.startsWith('counterfoil/')) {
      if (model.route.length > 0) problems.push(`${label} is built in and takes no route`)
      return model
    }
    if (model.route.length === 0) need('route')
    if (model.context_tokens === 0) need('context_tokens')
    if (model.kind === 'chat' && model.max_output_tokens === 0) need('max_output_tokens')
    for (const step of model.route) {
      const upstream = step.slice(0, step.indexOf(':'))
      if (upstreams.includes(upstream)) continue
      problems.push(`${label}.route names the upstream ${upstream}, which is not configured`)
    }
    return model
  })
}

/** Reads `[[name]]`, entries counted from 1, and refuses two of the same id. */
function readList<T extends { id: string }>(
  name: string,
  raw: unknown,
  problems: string[],
  read: (entry: unknown, where: string) => T | undefined,
): T[] {
  if (raw === undefined) return []
  if (!Array.isArray(raw)) {
    problems.push(`${name} must be a list of tables: [[${name}]]`)
    return []
  }
  const found = new Map<string, T>()
  raw.forEach((entry, index) => {
    const where = `${name}[${index + 1}]`
    const item = read(entry, where)
    if (!item) return
    if (found.has(item.id)) problems.push(`${where}.id: there are two ${name} called ${item.id}`)
    found.set(item.id, item)
  })
  return [...found.values()]
}
