/**
 * Requests and answers that are handed on as they came, because the agent and the model server
 * speak the same protocol: only so do caches of prompts work, and signatures of reasoning hold.
 */
import type { Json } from '../../kernel/canonical.ts'
import { isObject, type JsonObject, objectOf } from '../../kernel/json-object.ts'
import { isSet } from '../body.ts'
import type { Gathered } from './gathered.ts'
import { gatherMessage, MessageCollector } from './messages/collect.ts'
import type { Protocol } from './protocol.ts'
import { objectsIn, textOf } from './reading.ts'
import { gatherResponse, ResponseCollector } from './responses/collect.ts'
import { isUnstored, reasoningItems } from './responses/unstored.ts'
import type { Translation } from './translation.ts'
import { itemsWithout, messagesWithout } from './without-envelopes.ts'

/** A request as it came, in a protocol other than Chat Completions. */
export type Native = {
  protocol: Exclude<Protocol, 'chat'>
  body: JsonObject
  /** The headers of its protocol that came with it. */
  headers: Readonly<Record<string, string>>
  /** Betas that came with it and do not go on. */
  withheld?: readonly string[] | undefined
}

const passing: Record<Native['protocol'], readonly string[]> = {
  messages: ['anthropic-version', 'anthropic-beta'],
  responses: ['openai-beta'],
}

/** A request with the headers that a server of its protocol needs; no others go on. */
export function nativeOf(
  protocol: Native['protocol'],
  body: JsonObject,
  { headers, contextTokens }: { headers: Headers; contextTokens: number },
): Native {
  const found: Record<string, string> = {}
  let withheld: readonly string[] | undefined
  for (const name of passing[protocol]) {
    const value = headers.get(name)
    if (value === null || !/^[\t -~]{1,2048}$/.test(value)) continue
    withheld = name === 'anthropic-beta' ? widening(value, contextTokens) : undefined
    const kept = withheld ? betasOf(value).filter((one) => !withheld?.includes(one)) : [value]
    if (kept.length > 0) found[name] = kept.join(',')
  }
  return { protocol, body, headers: found, withheld }
}

const betasOf = (value: string): string[] => value.split(',').map((beta) => beta.trim())

/**
 * The betas that widen a model's context beyond the one that bounds its holds: what it reads past
 * that is billed to the operator alone. Undefined where there are none.
 */
function widening(value: string, contextTokens: number): string[] | undefined {
  if (!value.includes('context-')) return undefined
  const found = betasOf(value).filter((beta) => {
    const [, count, unit] = /^context-(\d+)([km])(-|$)/i.exec(beta) ?? []
    return Number(count) * (unit?.toLowerCase() === 'm' ? 1e6 : 1e3) > contextTokens
  })
  return found.length > 0 ? found : undefined
}

/** Gathers the events of a stream that is handed on. */
export type NativeCollector = {
  add(event: JsonObject): void
  /** Takes the report of an event whose output is not delivered. */
  noteUsage(event: JsonObject): void
  answer(): Gathered
}

type Handling = {
  /** The members that go on as they came; the others are ours, or not served. */
  known: ReadonlySet<string>
  /** What the limit of the answer is called. */
  limit: string
  /** Changes what must not go on as it came. */
  adapt(body: JsonObject, ignored: string[]): void
  gather(answer: JsonObject): Gathered
  collector(): NativeCollector
  /** Whether an event ends the answer, so that it waits for the COMMIT. */
  isFinishing(event: JsonObject): boolean
}

/** Tools that the caller itself runs; a server that ran others would bill what has no bound. */
const callersTools = new Set(['function', 'custom'])

/** A namespace is the caller's if all tools in it are. */
const isCallers = (tool: Json): boolean => {
  if (!isObject(tool)) return false
  if (tool['type'] !== 'namespace') return callersTools.has(textOf(tool['type']))
  return objectsIn(tool['tools']).every(({ type }) => callersTools.has(textOf(type)))
}

const handling: Record<Native['protocol'], Handling> = {
  messages: {
    known: new Set([
      'cache_control',
      'context_management',
      'messages',
      'metadata',
      'output_config',
      'stop_sequences',
      'system',
      'temperature',
      'thinking',
      'tool_choice',
      'tools',
      'top_k',
      'top_p',
    ]),
    limit: 'max_tokens',
    adapt: adaptMessages,
    gather: gatherMessage,
    collector: () => new MessageCollector(),
    isFinishing: ({ type }) => type === 'message_delta' || type === 'message_stop',
  },
  responses: {
    known: new Set([
      'include',
      'input',
      'instructions',
      'max_tool_calls',
      'parallel_tool_calls',
      'prompt_cache_key',
      'prompt_cache_options',
      'prompt_cache_retention',
      'reasoning',
      'safety_identifier',
      'service_tier',
      'temperature',
      'text',
      'tool_choice',
      'tools',
      'top_logprobs',
      'top_p',
      'truncation',
      'user',
    ]),
    limit: 'max_output_tokens',
    adapt(body, ignored) {
      body['store'] = false
      const items = itemsWithout(body['input'])
      if (items) {
        body['input'] = items
        ignored.push(reasoningItems)
      }
      const { input } = body
      if (Array.isArray(input) && input.some(isUnstored)) {
        body['input'] = input.filter((item) => !isUnstored(item))
        ignored.push(reasoningItems)
      }
      const { mode, ...reasoning } = objectOf(body['reasoning'])
      // What another mode writes is not known to be bounded.
      if (isSet(mode) && mode !== 'standard') {
        body['reasoning'] = reasoning
        ignored.push('reasoning.mode')
      }
      const { tools } = body
      if (!Array.isArray(tools)) return
      for (const tool of tools) {
        if (!isCallers(tool)) ignored.push(`tools.${textOf(isObject(tool) ? tool['type'] : null)}`)
      }
      const left = tools.filter(isCallers)
      if (left.length > 0) body['tools'] = left
      else {
        for (const name of ['tools', 'tool_choice', 'parallel_tool_calls']) {
          if (name !== 'tools' && isSet(body[name])) ignored.push(name)
          delete body[name]
        }
      }
    },
    gather: gatherResponse,
    collector: () => new ResponseCollector(),
    isFinishing: ({ type }) => type === 'response.completed' || type === 'response.incomplete',
  },
}

/** The least that a model may think, as this protocol has it. */
const leastBudget = 1024

function adaptMessages(body: JsonObject, ignored: string[]): void {
  const messages = messagesWithout(body['messages'])
  if (messages) {
    body['messages'] = messages
    ignored.push('thinking')
  }
  const management = objectOf(body['context_management'])
  const edits = objectsIn(management['edits'])
  // Only what clears: other edits run the model once more, beside the usage that is reported.
  const clearing = edits.filter(({ type }) => textOf(type).startsWith('clear_'))
  if (clearing.length < edits.length) {
    body['context_management'] = { ...management, edits: clearing }
    ignored.push('context_management.edits')
  }
  const { max_tokens: most, thinking } = body
  const { budget_tokens: budget } = objectOf(thinking)
  if (typeof most !== 'number' || typeof budget !== 'number' || budget < most) return
  // The limit was lowered below what the model may think.
  ignored.push('thinking.budget_tokens')
  if (most > leastBudget) body['thinking'] = { ...objectOf(thinking), budget_tokens: most - 1 }
  else delete body['thinking']
}

/** Members that say how the answer travels, or are answered here: `metadata` becomes tags. */
const ours = new Set(['model', 'stream', 'fit', 'store', 'tags', 'metadata'])

/** The request as it goes to a server of its own protocol, under the server's name of the model. */
export function nativeRequest(
  { protocol, body, withheld = [] }: Native,
  to: { model: string; maxTokens: number; pass: readonly string[] },
): Translation {
  const { known, limit, adapt } = handling[protocol]
  const request: JsonObject = { model: to.model, [limit]: to.maxTokens }
  const ignored = [...withheld]
  for (const [name, value] of Object.entries(body)) {
    if (!isSet(value) || name === limit) continue
    if (known.has(name)) request[name] = value
    else if (ours.has(name) || value === false) continue
    else if (to.pass.includes(name)) request[name] = value
    else ignored.push(name)
  }
  adapt(request, ignored)
  return { body: request, ignored: ignored.sort() }
}

/** Members that a server of Anthropic's protocol counts by; it refuses others. */
const counted = new Set([
  ...['model', 'messages', 'system', 'tools', 'tool_choice', 'thinking', 'cache_control'],
  ...['context_management', 'output_config'],
])

/** The question how many tokens a message has, for a server of its protocol. */
export function countRequest(native: Native, model: string): JsonObject {
  const to = { model, maxTokens: Number.MAX_SAFE_INTEGER, pass: [] }
  const { body } = nativeRequest(native, to)
  return Object.fromEntries(Object.entries(body).filter(([name]) => counted.has(name)))
}

export const gatherNative = (protocol: Native['protocol'], answer: JsonObject): Gathered =>
  handling[protocol].gather(answer)

export const nativeCollector = (protocol: Native['protocol']): NativeCollector =>
  handling[protocol].collector()

export const isFinishing = (protocol: Native['protocol'], event: JsonObject): boolean =>
  handling[protocol].isFinishing(event)

/**
 * UTF-8 bytes of what a model reads of a request. Images and documents are left out exactly where
 * their translation has them, and so a bound of their own; everything else counts.
 */
export function textBytesOf({ protocol, body }: Native): number {
  const turns = objectsIn(body[protocol === 'messages' ? 'messages' : 'input'])
  const encoded = turns.reduce((sum, turn) => sum + encodedIn(turn), 0)
  return Buffer.byteLength(JSON.stringify(body)) - encoded
}

/** The length of the base64 in the blocks or parts of a turn, and of the results among them. */
function encodedIn(turn: JsonObject): number {
  const parts = [...objectsIn(turn['content']), ...objectsIn(turn['output'])]
  return parts.reduce((sum, part) => sum + encodedOf(part), 0)
}

function encodedOf(part: JsonObject): number {
  switch (part['type']) {
    case 'image':
    case 'document': {
      const { type, data } = objectOf(part['source'])
      return type === 'base64' ? textOf(data).length : 0
    }
    case 'tool_result':
      return encodedIn(part)
    case 'input_image':
      return lengthOfData(part['image_url'])
    case 'input_file':
      return lengthOfData(part['file_data'])
    default:
      return 0
  }
}

const lengthOfData = (url: Json | undefined): number =>
  textOf(url).startsWith('data:') ? textOf(url).length : 0
