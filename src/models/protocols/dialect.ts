/** Describes how single model servers depart from their protocol: declared, or learned. */
import type { Json } from '../../kernel/canonical.ts'
import { sha256 } from '../../kernel/hash.ts'
import { isObject, type JsonObject, objectOf } from '../../kernel/json-object.ts'
import type { Protocol } from './protocol.ts'

/** The names that protocols have for the most tokens of an answer. */
export const limitNames = ['max_tokens', 'max_completion_tokens', 'max_output_tokens'] as const

export type LimitName = (typeof limitNames)[number]

/** The form of ids of calls: at most so many characters, or exactly so many letters and digits. */
export type CallIdForm = { most: number; isExact: boolean }

/** Facts of one model server. Each that is absent is as its protocol says. */
export type Dialect = {
  /** Names of the limit that it refuses. */
  refusedLimits?: readonly LimitName[] | undefined
  /** The name of the limit to begin with; of Chat Completions alone. */
  limit?: LimitName | undefined
  /** Members that it refuses: at the top of a request, or inside of it as `messages.name`. */
  without?: readonly string[] | undefined
  /** Values that it refuses, by the name of a member at the top. */
  withoutValues?: { readonly [member: string]: readonly Json[] } | undefined
  /** Values of `anthropic-beta` that it refuses; `*` for all. */
  withoutBetas?: readonly string[] | undefined
  /** Whether it knows the role `developer`; true when absent. */
  developer?: boolean | undefined
  callIds?: CallIdForm | undefined
  /** The longest `user`, in characters. */
  userMax?: number | undefined
  /** Whether it writes to its cache unasked, and bills that; false when absent. */
  billsCacheWrites?: boolean | undefined
}

/** Lists whose items and parts can have members that a server refuses. */
const lists = ['messages', 'input', 'system', 'tools'] as const

/** Newer models of OpenAI refuse the older name of the limit. */
const newerModel = /(^|[/:])(gpt-([5-9]|\d\d)|o[1-9])([^a-z]|$)/i

/** The name of the limit for a model of Chat Completions, unless its server refuses it. */
function limitFor(model: string, present: LimitName, dialect: Dialect): LimitName | undefined {
  const preferred = dialect.limit ?? (newerModel.test(model) ? 'max_completion_tokens' : present)
  const names: LimitName[] = [preferred, 'max_completion_tokens', 'max_tokens']
  return names.find((name) => !dialect.refusedLimits?.includes(name))
}

/** Whether the server takes a limit of the answer by some name. */
export function takesLimit(protocol: Protocol, { refusedLimits = [] }: Dialect): boolean {
  if (refusedLimits.length === 0 || protocol === 'messages') return true
  if (protocol === 'responses') return !refusedLimits.includes('max_output_tokens')
  return !(refusedLimits.includes('max_tokens') && refusedLimits.includes('max_completion_tokens'))
}

export type AdaptedRequest = {
  body: JsonObject
  /** Members that the server does not get, as `X-Counterfoil-Ignored` names them. */
  dropped: readonly string[]
}

/** A request as this server takes it. The request itself is not changed. */
export function adapt(protocol: Protocol, dialect: Dialect, from: JsonObject): AdaptedRequest {
  const body = { ...from }
  const dropped: string[] = []
  if (protocol === 'chat') nameLimit(body, dialect, dropped)
  else if (protocol === 'responses' && !takesLimit(protocol, dialect)) {
    drop(body, 'max_output_tokens', dropped)
  }
  // Servers refuse an empty list, which means the same as none.
  if (Array.isArray(body['tools']) && body['tools'].length === 0) {
    for (const name of ['tools', 'tool_choice', 'parallel_tool_calls']) delete body[name]
  }
  for (const path of dialect.without ?? []) {
    const [list, member] = path.split('.')
    if (member === undefined) drop(body, path, dropped)
    else if (list !== undefined) dropInside(body, list, member, dropped)
  }
  for (const [name, values] of Object.entries(dialect.withoutValues ?? {})) {
    if (values.includes(body[name] ?? null)) drop(body, name, dropped)
  }
  const { userMax, callIds, developer = true } = dialect
  const { user } = body
  if (userMax !== undefined && typeof user === 'string' && user.length > userMax) {
    body['user'] = shortened(user, userMax)
  }
  if (callIds) eachObject(body, (one) => withCallIds(one, callIds))
  if (!developer) eachObject(body, toSystem)
  return { body, dropped }
}

/** The headers of a client that this server takes. */
export function adaptHeaders(
  { withoutBetas = [] }: Dialect,
  headers: Readonly<Record<string, string>> | undefined,
): Readonly<Record<string, string>> | undefined {
  const betas = headers?.['anthropic-beta']
  if (betas === undefined || withoutBetas.length === 0) return headers
  const kept = betas.split(',').filter((beta) => !withoutBetas.includes(beta.trim()))
  const { 'anthropic-beta': _, ...rest } = headers ?? {}
  return withoutBetas.includes('*') || kept.length === 0
    ? rest
    : { ...rest, 'anthropic-beta': kept.join(',') }
}

function nameLimit(body: JsonObject, dialect: Dialect, dropped: string[]): void {
  const present: LimitName =
    body['max_completion_tokens'] === undefined ? 'max_tokens' : 'max_completion_tokens'
  const tokens = body[present]
  if (tokens === undefined) return
  const name = limitFor(String(body['model'] ?? ''), present, dialect)
  if (name === present) return
  delete body[present]
  if (name === undefined) dropped.push(present)
  else body[name] = tokens
}

function drop(body: JsonObject, name: string, dropped: string[]): void {
  if (!(name in body)) return
  delete body[name]
  // The usage that it asks for comes all the same, from us.
  if (name !== 'stream_options') dropped.push(name)
}

function dropInside(body: JsonObject, list: string, member: string, dropped: string[]): void {
  let isFound = false
  eachObject(
    body,
    (one) => {
      if (!(member in one)) return one
      isFound = true
      const { [member]: _, ...rest } = one
      return rest
    },
    [list],
  )
  if (isFound) dropped.push(`${list}.${member}`)
}

/**
 * Replaces the objects of which the lists of a request consist: items, their parts, functions and
 * calls. What models and tools say, such as arguments and schemas, is never looked into.
 */
export function eachObject(
  body: JsonObject,
  change: (one: JsonObject) => JsonObject,
  of: readonly string[] = lists,
): void {
  const changeAll = (value: Json | undefined): Json | undefined =>
    Array.isArray(value) ? value.map((one) => (isObject(one) ? inside(one) : one)) : value
  const inside = (one: JsonObject): JsonObject => {
    const changed = { ...change(one) }
    for (const name of ['content', 'tool_calls', 'output']) {
      const list = changed[name]
      if (Array.isArray(list)) changed[name] = changeAll(list) ?? null
    }
    for (const name of ['function', 'custom']) {
      const called = changed[name]
      if (isObject(called)) changed[name] = change(called)
    }
    return changed
  }
  for (const name of of) {
    const list = body[name]
    if (Array.isArray(list)) body[name] = changeAll(list) ?? null
  }
}

const idMembers = ['tool_call_id', 'tool_use_id', 'call_id'] as const

function withCallIds(one: JsonObject, form: CallIdForm): JsonObject {
  const changed = { ...one }
  for (const name of idMembers) {
    const id = changed[name]
    if (typeof id === 'string') changed[name] = callIdOf(id, form)
  }
  const { id, type } = changed
  const isCall = type === 'tool_use' || 'function' in changed || 'custom' in changed
  if (typeof id === 'string' && isCall) changed['id'] = callIdOf(id, form)
  return changed
}

/** Makes one id for one call, in the call and in its result. */
function callIdOf(id: string, { most, isExact }: CallIdForm): string {
  if (isExact) return id.length === most && /^[A-Za-z\d]*$/.test(id) ? id : shortened(id, most)
  return id.length <= most ? id : shortened(id, most)
}

/** A text of letters and digits that stands for a longer one. */
const shortened = (text: string, length: number): string =>
  Buffer.from(sha256(text)).toString('hex').slice(0, length)

const toSystem = (one: JsonObject): JsonObject =>
  one['role'] === 'developer' ? { ...one, role: 'system' } : one

/** The facts of both; what is learned adds to what is declared. */
export function withFacts(dialect: Dialect, more: Dialect): Dialect {
  const values: { [member: string]: Json[] } = {}
  for (const from of [dialect.withoutValues, more.withoutValues]) {
    for (const [name, list] of Object.entries(objectOf(from as JsonObject | undefined))) {
      values[name] = [...(values[name] ?? []), ...(Array.isArray(list) ? list : [])]
    }
  }
  const joined = <T>(a: readonly T[] = [], b: readonly T[] = []): T[] => [...new Set([...a, ...b])]
  return {
    ...dialect,
    ...more,
    refusedLimits: joined(dialect.refusedLimits, more.refusedLimits),
    without: joined(dialect.without, more.without),
    withoutValues: values,
    withoutBetas: joined(dialect.withoutBetas, more.withoutBetas),
  }
}

/** The facts in words, for the log and the operator's page. */
export function wordsOf(dialect: Dialect): string[] {
  const { refusedLimits = [], without = [], withoutValues = {}, callIds, userMax } = dialect
  const { withoutBetas = [] } = dialect
  return [
    ...(dialect.limit === undefined ? [] : [`limit is ${dialect.limit}`]),
    ...[...refusedLimits, ...without].map((name) => `without ${name}`),
    ...Object.entries(withoutValues).flatMap(([name, values]) =>
      values.map((value) => `without ${name} ${JSON.stringify(value)}`),
    ),
    ...withoutBetas.map((beta) => `without anthropic-beta ${beta}`),
    ...(dialect.developer === false ? ['developer is system'] : []),
    ...(callIds ? [`ids of calls ${callIds.isExact ? 'of' : 'up to'} ${callIds.most}`] : []),
    ...(userMax === undefined ? [] : [`user up to ${userMax}`]),
    ...(dialect.billsCacheWrites ? ['bills cache writes'] : []),
  ]
}
