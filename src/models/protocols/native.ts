/**
 * Requests and answers that are handed on as they came, because the agent and the model server
 * speak the same protocol: only so do caches of prompts work, and signatures of reasoning hold.
 */
import type { Json } from '../../kernel/canonical.ts'
import { isObject, type JsonObject } from '../../kernel/json-object.ts'
import { isSet } from '../body.ts'
import type { Gathered } from './gathered.ts'
import { gatherMessage, MessageCollector } from './messages/collect.ts'
import type { Protocol } from './protocol.ts'
import { textOf } from './reading.ts'
import { gatherResponse, ResponseCollector } from './responses/collect.ts'
import type { Translation } from './translation.ts'

/** A request as it came, in a protocol other than Chat Completions. */
export type Native = { protocol: Exclude<Protocol, 'chat'>; body: JsonObject }

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
const callersTools = new Set(['function', 'custom', 'namespace', 'local_shell', 'apply_patch'])

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
    adapt: () => undefined,
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
      const { tools } = body
      if (!Array.isArray(tools)) return
      const isOurs = (tool: Json): boolean =>
        isObject(tool) && callersTools.has(textOf(tool['type']))
      for (const tool of tools) {
        if (!isOurs(tool)) ignored.push(`tools.${textOf(isObject(tool) ? tool['type'] : null)}`)
      }
      body['tools'] = tools.filter(isOurs)
    },
    gather: gatherResponse,
    collector: () => new ResponseCollector(),
    isFinishing: ({ type }) => type === 'response.completed' || type === 'response.incomplete',
  },
}

/** Members that say how the answer travels, or are answered here. */
const ours = new Set(['model', 'stream', 'fit', 'store', 'tags', 'max_tokens', 'max_output_tokens'])

/** The request as it goes to a server of its own protocol, under the server's name of the model. */
export function nativeRequest(
  { protocol, body }: Native,
  to: { model: string; maxTokens: number; pass: readonly string[] },
): Translation {
  const { known, limit, adapt } = handling[protocol]
  const request: JsonObject = { model: to.model, [limit]: to.maxTokens }
  const ignored: string[] = []
  for (const [name, value] of Object.entries(body)) {
    if (!isSet(value) || ours.has(name)) continue
    if (known.has(name) || to.pass.includes(name)) request[name] = value
    else ignored.push(name)
  }
  adapt(request, ignored)
  return { body: request, ignored: ignored.sort() }
}

export const gatherNative = (protocol: Native['protocol'], answer: JsonObject): Gathered =>
  handling[protocol].gather(answer)

export const nativeCollector = (protocol: Native['protocol']): NativeCollector =>
  handling[protocol].collector()

export const isFinishing = (protocol: Native['protocol'], event: JsonObject): boolean =>
  handling[protocol].isFinishing(event)

/** UTF-8 bytes of what a model reads of a request: encoded images and documents left out. */
export const textBytesOf = ({ body }: Native): number =>
  Buffer.byteLength(JSON.stringify(body, (name, value) => (isEncoded(name, value) ? '' : value)))

function isEncoded(name: string, value: unknown): boolean {
  if (typeof value !== 'string') return false
  return name === 'image_url' || name === 'file_data' ? value.startsWith('data:') : name === 'data'
}
