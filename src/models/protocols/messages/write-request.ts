/** Writes a request of Chat Completions as one of Anthropic's Messages API. */
import type { Json } from '../../../kernel/canonical.ts'
import { isObject, type JsonObject } from '../../../kernel/json-object.ts'
import { isSet } from '../../body.ts'
import { ordinaryTiers } from '../../tiers.ts'
import { objectOf, objectsIn, textOf } from '../reading.ts'
import { type Translation, unknownMembers } from '../translation.ts'

/** Members with a counterpart, and those that only say how the answer travels. */
const known = new Set([
  'model',
  'messages',
  'max_tokens',
  'max_completion_tokens',
  'n',
  'stop',
  'temperature',
  'top_p',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'response_format',
  'user',
  'stream',
  'stream_options',
])

/** What of a request this protocol cannot say and must not leave out; undefined when nothing. */
export function unsayable(body: JsonObject): { param: string; message: string } | undefined {
  const { n, logprobs, functions } = body
  if (typeof n === 'number' && n > 1) {
    return { param: 'n', message: 'This model gives one answer a request. Leave "n" out.' }
  }
  if (logprobs === true) {
    return { param: 'logprobs', message: 'This model tells no logprobs. Leave "logprobs" out.' }
  }
  if (isSet(functions)) {
    return { param: 'functions', message: 'Send tools in the place of functions.' }
  }
  const { service_tier: tier } = body
  if (typeof tier === 'string' && !ordinaryTiers.has(tier)) {
    const message = 'This model has one tier of service. Leave "service_tier" out.'
    return { param: 'service_tier', message }
  }
  const custom = objectsIn(body['tools']).findIndex(({ type }) => type === 'custom')
  if (custom === -1) return undefined
  return { param: `tools[${custom}].type`, message: 'This model takes tools of type function.' }
}

/** Call {@link unsayable} before a run begins. */
export function chatToMessages(from: JsonObject): Translation {
  const ignored = new Set(unknownMembers(from, known))
  const { system, messages } = conversationOf(objectsIn(from['messages']))
  const body: JsonObject = {
    model: from['model'] ?? null,
    max_tokens: from['max_completion_tokens'] ?? from['max_tokens'] ?? null,
    messages,
  }
  if (system.length > 0) body['system'] = system
  for (const name of ['temperature', 'top_p'] as const) {
    if (isSet(from[name])) body[name] = from[name]
  }
  const { stop, user } = from
  if (isSet(stop)) body['stop_sequences'] = typeof stop === 'string' ? [stop] : stop
  if (typeof user === 'string') body['metadata'] = { user_id: user }
  addTools(from, body)
  const format = objectOf(from['response_format'])
  if (format['type'] === 'json_schema') {
    const { schema = {} } = objectOf(format['json_schema'])
    body['output_config'] = { format: { type: 'json_schema', schema } }
  } else if (format['type'] === 'json_object') ignored.add('response_format')
  return { body, ignored: [...ignored].sort() }
}

type Conversation = { system: JsonObject[]; messages: JsonObject[] }

/** Consecutive messages of one role are one; results of tools come before what else is said. */
function conversationOf(from: JsonObject[]): Conversation {
  const system: JsonObject[] = []
  const turns: { role: 'user' | 'assistant'; blocks: JsonObject[] }[] = []
  const add = (role: 'user' | 'assistant', blocks: JsonObject[]): void => {
    const last = turns.at(-1)
    if (last?.role === role) last.blocks.push(...blocks)
    else turns.push({ role, blocks })
  }
  for (const message of from) {
    const { role } = message
    if (role === 'assistant') add('assistant', assistantBlocks(message))
    else if (role === 'tool') add('user', [resultOf(message)])
    else if ((role === 'system' || role === 'developer') && turns.length === 0) {
      system.push(...contentBlocks(message['content']))
    } else add('user', contentBlocks(message['content']))
  }
  const isResult = ({ type }: JsonObject): boolean => type === 'tool_result'
  const messages = turns.map(({ role, blocks }): JsonObject => {
    const ordered = [...blocks.filter(isResult), ...blocks.filter((block) => !isResult(block))]
    return { role, content: ordered }
  })
  return { system, messages: messages.filter(({ content }) => objectsIn(content).length > 0) }
}

/** Empty texts are left out: this protocol refuses them. */
function contentBlocks(content: Json | undefined): JsonObject[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  return objectsIn(content).flatMap((part) => {
    const { cache_control } = part
    const cached: JsonObject = isSet(cache_control) ? { cache_control } : {}
    const block = blockOf(part)
    return block ? [{ ...block, ...cached }] : []
  })
}

function blockOf(part: JsonObject): JsonObject | undefined {
  if (part['type'] === 'image_url') {
    const url = textOf(objectOf(part['image_url'])['url'])
    return { type: 'image', source: sourceOf(url) }
  }
  if (part['type'] === 'file') {
    const { file_data, filename } = objectOf(part['file'])
    const title: JsonObject = typeof filename === 'string' ? { title: filename } : {}
    return { type: 'document', source: sourceOf(textOf(file_data)), ...title }
  }
  const text = textOf(part['text'] ?? part['refusal'])
  return text === '' ? undefined : { type: 'text', text }
}

/** A `data:` URL as the source of a block. */
function sourceOf(url: string): JsonObject {
  const comma = url.indexOf(',')
  const media_type = url.slice('data:'.length, comma).split(';', 1)[0] ?? ''
  return { type: 'base64', media_type, data: url.slice(comma + 1) }
}

function assistantBlocks(message: JsonObject): JsonObject[] {
  const calls = objectsIn(message['tool_calls']).map((call): JsonObject => {
    const { name, arguments: args } = objectOf(call['function'])
    return {
      type: 'tool_use',
      id: textOf(call['id']),
      name: textOf(name),
      input: inputOf(textOf(args)),
    }
  })
  return [...reasoningBlocks(message), ...contentBlocks(message['content']), ...calls]
}

/** Reasoning goes back only as it was signed; a stream gives its text beside the signature. */
function reasoningBlocks(message: JsonObject): JsonObject[] {
  const beside = textOf(message['reasoning_content'] ?? message['reasoning'])
  return objectsIn(message['reasoning_details']).flatMap((detail): JsonObject[] => {
    const { type, text, signature, data } = detail
    if (type === 'reasoning.encrypted' && typeof data === 'string') {
      return [{ type: 'redacted_thinking', data }]
    }
    if (type !== 'reasoning.text' || typeof signature !== 'string' || signature === '') return []
    return [{ type: 'thinking', thinking: textOf(text) || beside, signature }]
  })
}

function resultOf(message: JsonObject): JsonObject {
  const { tool_call_id, content } = message
  const said = typeof content === 'string' ? content : contentBlocks(content)
  return { type: 'tool_result', tool_use_id: textOf(tool_call_id), content: said }
}

function addTools(from: JsonObject, body: JsonObject): void {
  const tools = objectsIn(from['tools'])
  if (tools.length === 0) return
  body['tools'] = tools.map((tool) => {
    const { name, description, parameters, strict } = objectOf(tool['function'])
    const { cache_control } = tool
    return {
      name: textOf(name),
      ...(isSet(description) ? { description } : {}),
      input_schema: isSet(parameters) ? parameters : { type: 'object', properties: {} },
      ...(strict === true ? { strict } : {}),
      ...(isSet(cache_control) ? { cache_control } : {}),
    }
  })
  const single = from['parallel_tool_calls'] === false
  const choice = choiceOf(from['tool_choice'], single)
  if (choice) body['tool_choice'] = choice
}

function choiceOf(choice: Json | undefined, single: boolean): JsonObject | undefined {
  const serial: JsonObject = single ? { disable_parallel_tool_use: true } : {}
  if (choice === 'none') return { type: 'none' }
  if (choice === 'required') return { type: 'any', ...serial }
  if (isObject(choice)) {
    return { type: 'tool', name: textOf(objectOf(choice['function'])['name']), ...serial }
  }
  return single ? { type: 'auto', ...serial } : undefined
}

/** Arguments as this protocol wants them; text that does not parse to an object is a member. */
export function inputOf(args: string): Json {
  if (args.trim() === '') return {}
  try {
    const value: Json = JSON.parse(args)
    if (isObject(value)) return value
  } catch {
    // Models do write JSON that is none.
  }
  return { arguments: args }
}
