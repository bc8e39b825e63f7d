/** Finds out from a refusal which part of a request a model server does not take. */
import type { Json } from '../../kernel/canonical.ts'
import type { JsonObject } from '../../kernel/json-object.ts'
import type { ServerWords } from '../upstream/upstream.ts'
import { type Dialect, eachObject, type LimitName, limitNames } from './dialect.ts'
import type { Protocol } from './protocol.ts'

/** The request itself: a server that refuses one of these refuses all of it. */
const neverDropped = new Set([
  ...['model', 'messages', 'input', 'system', 'instructions', 'prompt', 'stream', 'n', 'stop'],
  ...['tools', 'tool_choice', 'functions', 'function_call', 'response_format', 'text'],
  ...['stop_sequences', 'output_config', 'modalities', 'audio', 'service_tier'],
])

/** Members that are never dropped from what stands inside of its lists. */
const neverDroppedInside = new Set([
  ...['role', 'content', 'type', 'text', 'id', 'name', 'arguments', 'input', 'output', 'source'],
  ...['call_id', 'tool_call_id', 'tool_use_id', 'tool_calls', 'function', 'custom', 'format'],
  ...['image_url', 'file', 'file_data', 'parameters', 'input_schema', 'description', 'refusal'],
])

/** How servers refuse members that they do not know or serve. */
const refusesMember = new RegExp(
  [
    'unsupported|not support|n.?t supported|unrecogni[sz]ed|unknown|unexpected|deprecated',
    'not (be )?(permitted|allowed|recogni[sz]ed|accepted|available|enabled|implemented|valid for)',
    'extra[ _](input|field|forbidden)|additional propert|no such|not compatible',
    'invalid (param|field|argument|key|propert)|only the default|must be (removed|omitted)',
    "can(not|'t) be (specified|used|set|provided)",
  ].join('|'),
  'i',
)

/** How they refuse a value: another request may have a better one. */
const refusesValue = new RegExp(
  [
    'must be (between|at|an?\\b|non|less|greater|one|in)|out of range|valid range|should be',
    'too (long|large|small|short|high|low|many)|at (least|most)|greater than|less than',
    'minimum|maximum|positive|negative',
  ].join('|'),
  'i',
)

const refusesOneValue = /(supported|valid|allowed) values|unsupported value|invalid value/i
const takesDefaultAlone = /only the default/i

/**
 * The facts that a refusal teaches; undefined where it names nothing that can be left out or said
 * otherwise. They hold once the request without that was taken: its words may be its client's.
 * @param body as the server got it
 */
export function factsIn(
  words: ServerWords,
  { protocol, body, dialect }: { protocol: Protocol; body: JsonObject; dialect: Dialect },
): Dialect | undefined {
  const said = `${words.code ?? ''} ${words.message}`
  return (
    betaFact(said, dialect) ??
    callIdFact(words, said) ??
    userFact(words, body) ??
    developerFact(said, body) ??
    limitFact(words, said, protocol, body) ??
    memberFact(words, said, protocol, body, dialect)
  )
}

/** Servers behind other clouds name the betas that they do not know, or say that there are some. */
function betaFact(said: string, { withoutBetas = [] }: Dialect): Dialect | undefined {
  if (!/anthropic-beta|beta (flag|header)/i.test(said)) return undefined
  const named = [...said.matchAll(/\b[a-z][a-z\d-]{1,60}-\d{4}-\d{2}-\d{2}\b/gi)]
  const fresh = named.map(([beta]) => beta).filter((beta) => !withoutBetas.includes(beta))
  if (fresh.length > 0) return { withoutBetas: fresh }
  return withoutBetas.includes('*') ? undefined : { withoutBetas: ['*'] }
}

const lengthWords =
  /too long|above_max_length|maximum length|at most|max length|with a length|longer than/i

const numberIn = (text: string, otherwise: number): number => {
  const found = /(?:length(?: of)?|at most|longer than|max(?:imum)?)\D{0,12}?(\d{1,4})/i.exec(text)
  const number = Number(found?.[1])
  return number >= 8 && number <= 1024 ? number : otherwise
}

function callIdFact({ param = '', message }: ServerWords, said: string): Dialect | undefined {
  const isNamed = /(call_id|tool_call_id|tool_use_id|tool_calls\W+\d*\W*id|call ids?\b)/i
  if (!isNamed.test(`${param} ${message}`) || !lengthWords.test(said)) return undefined
  const isExact = /length of \d+/i.test(message) && /a-z/i.test(message)
  return { callIds: { most: numberIn(message, 64), isExact } }
}

function userFact({ param, message, code = '' }: ServerWords, body: JsonObject) {
  const { user } = body
  if (typeof user !== 'string' || !lengthWords.test(`${code} ${message}`)) return undefined
  const isNamed = param === 'user' || (param === undefined && /['"`]user['"`]/.test(message))
  const most = numberIn(message, 64)
  return isNamed && user.length > most ? { userMax: most } : undefined
}

function developerFact(said: string, body: JsonObject): Dialect | undefined {
  if (!/\bdeveloper\b/.test(said)) return undefined
  const { messages } = body
  const isSent =
    Array.isArray(messages) && messages.some((one) => (one as JsonObject)['role'] === 'developer')
  return isSent ? { developer: false } : undefined
}

function limitFact(
  words: ServerWords,
  said: string,
  protocol: Protocol,
  body: JsonObject,
): Dialect | undefined {
  if (protocol === 'messages') return undefined
  const name = limitNames.find((one) => body[one] !== undefined)
  if (name === undefined || !isNamed(name, words)) return undefined
  return refusesMember.test(said) ? { refusedLimits: [name] } : undefined
}

const isLimit = (name: string): name is LimitName => limitNames.some((one) => one === name)

function memberFact(
  words: ServerWords,
  said: string,
  protocol: Protocol,
  body: JsonObject,
  dialect: Dialect,
): Dialect | undefined {
  if (!refusesMember.test(said) && !refusesOneValue.test(said)) return undefined
  if (refusesValue.test(said) && !takesDefaultAlone.test(said)) return undefined
  const names = [...Object.keys(body), ...(protocol === 'chat' ? ['stream_options'] : [])]
  const known = new Set(dialect.without)
  const top = names.filter((name) => !neverDropped.has(name) && !isLimit(name) && !known.has(name))
  const inside = membersInside(body).filter((path) => !known.has(path))
  const named = (from: readonly string[]): string[] => {
    const exact = from.filter((path) => isPlace(path, words.param))
    if (exact.length > 0) return exact
    const quoted = from.filter((path) => isQuoted(nameOf(path), words.message))
    return quoted.length > 0 ? quoted : from.filter((path) => isNamed(nameOf(path), words))
  }
  const found = named(top)
  const paths = found.length > 0 ? found : named(inside)
  if (paths.length === 0) return undefined
  const [first = ''] = paths
  const value = body[first]
  const isOneOf = refusesOneValue.test(said) && !takesDefaultAlone.test(said)
  if (isOneOf && typeof value === 'string') return { withoutValues: { [first]: [value] } }
  return { without: paths }
}

const nameOf = (path: string): string => path.slice(path.lastIndexOf('.') + 1)

/** The names of members inside of the lists of a request, as `messages.name`. */
function membersInside(body: JsonObject): string[] {
  const found = new Set<string>()
  for (const list of ['messages', 'input', 'system', 'tools']) {
    const note = (one: JsonObject): JsonObject => {
      for (const name in one) if (!neverDroppedInside.has(name)) found.add(`${list}.${name}`)
      return one
    }
    eachObject({ [list]: body[list] ?? null }, note, [list])
  }
  return [...found]
}

/** Whether a place such as `messages[1].name` is that of a path. */
function isPlace(path: string, place: Json | undefined): boolean {
  if (typeof place !== 'string') return false
  const names = place.split(/[^\w-]+/).filter((part) => part !== '' && !/^\d+$/.test(part))
  const [list, member] = path.split('.')
  return member === undefined
    ? names[0] === list
    : names.at(-1) === member && (names[0] === list || names.length === 1)
}

const isQuoted = (name: string, message: string): boolean =>
  ["'", '"', '`'].some((quote) => message.includes(`${quote}${name}${quote}`))

/** A name that is also an English word counts only where it stands as a name. */
function isNamed(name: string, { param, message }: ServerWords): boolean {
  if (isPlace(name, param) || isQuoted(name, message)) return true
  const escaped = name.replaceAll(/\W/g, '\\$&')
  const noun = '(parameter|argument|field|property|input|key)'
  const stands = name.includes('_')
    ? `(^|[^\\w-])${escaped}($|[^\\w-])`
    : `(^|[\\s.])${escaped}(:|\\.\\w)|${noun}s?:? ${escaped}\\b`
  return new RegExp(stands).test(message)
}
