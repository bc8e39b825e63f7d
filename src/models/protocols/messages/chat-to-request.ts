/** Writes a request of Chat Completions as one of Anthropic's Messages API. */
import type { Json } from '../../../kernel/canonical.ts'
import { isObject, isSet, type JsonObject, objectOf } from '../../../kernel/json-object.ts'
import { ordinaryTiers } from '../../tiers.ts'
import { addBreakpoints, needsBreakpoints } from '../breakpoints.ts'
import { thinkingFor } from '../efforts.ts'
import { oldCallIn } from '../old-calls.ts'
import { objectsIn, textOf } from '../reading.ts'
import { detailsOf, isFor } from '../reasoning-details.ts'
import { noteOthers, type Translation, unknownMembers } from '../translation.ts'

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
  'reasoning_effort',
  'prompt_cache_key',
  'user',
  'stream',
  'stream_options',
])

/** Members of what stands inside of a request that have a counterpart. */
const inside = {
  system: new Set(['role', 'content']),
  user: new Set(['role', 'content']),
  tool: new Set(['role', 'content', 'tool_call_id']),
  assistant: new Set([
    ...['role', 'content', 'refusal', 'tool_calls'],
    ...['reasoning', 'reasoning_content', 'reasoning_details'],
  ]),
  part: new Set(['type', 'text', 'refusal', 'image_url', 'file', 'cache_control']),
  image: new Set(['url']),
  file: new Set(['filename', 'file_data']),
  call: new Set(['id', 'type', 'index', 'function']),
  toolOf: new Set(['type', 'function', 'cache_control']),
  function: new Set(['name', 'description', 'parameters', 'strict']),
  format: new Set(['type', 'json_schema']),
  schema: new Set(['schema', 'strict']),
}

/** Finds a part that this protocol cannot say and must not leave out; undefined if none. */
export function unsayable(body: JsonObject): { param: string; message: string } | undefined {
  const { n, logprobs } = body
  if (typeof n === 'number' && n > 1) {
    return { param: 'n', message: 'This model gives one answer per request. Leave "n" out.' }
  }
  if (logprobs === true) {
    return {
      param: 'logprobs',
      message: 'This model does not return logprobs. Leave "logprobs" out.',
    }
  }
  const { service_tier: tier } = body
  if (typeof tier === 'string' && !ordinaryTiers.has(tier)) {
    const message = 'This model has one tier of service. Leave "service_tier" out.'
    return { param: 'service_tier', message }
  }
  const old = oldCallIn(body)
  if (old) return old
  const { tool_choice: choice } = body
  if (!isObject(choice) || choices.has(textOf(choice['type']))) return undefined
  const message = 'This model can be told one tool or some, or auto, none or required.'
  return { param: 'tool_choice.type', message }
}

/** Choices that have a counterpart; a freeform tool is a function by then. */
const choices = new Set(['function', 'custom', 'allowed_tools'])

/** Call {@link unsayable} before a run begins. @param isCached gives it breakpoints unasked */
export function chatToMessages(from: JsonObject, isCached = false): Translation {
  const ignored = new Set(unknownMembers(from, known))
  const said = objectsIn(from['messages'])
  for (const message of said) noteMessage(ignored, message)
  const { system, messages } = conversationOf(said)
  const body: JsonObject = {
    model: from['model'] ?? null,
    max_tokens: from['max_completion_tokens'] ?? from['max_tokens'] ?? null,
    messages,
  }
  if (system.length > 0) body['system'] = system
  const { stop, user } = from
  if (isSet(stop)) body['stop_sequences'] = typeof stop === 'string' ? [stop] : stop
  if (typeof user === 'string') body['metadata'] = { user_id: user }
  addTools(from, body, ignored)
  const format = objectOf(from['response_format'])
  if (format['type'] === 'json_schema') {
    const { schema = {} } = objectOf(format['json_schema'])
    noteOthers(ignored, 'response_format', format, inside.format)
    noteOthers(ignored, 'response_format.json_schema', format['json_schema'], inside.schema)
    body['output_config'] = { format: { type: 'json_schema', schema } }
  } else if (format['type'] === 'json_object') ignored.add('response_format')
  addThinking(from, body, ignored)
  const isMarked = needsBreakpoints(from, isCached) && addBreakpoints(body)
  if (!isMarked && isSet(from['prompt_cache_key'])) ignored.add('prompt_cache_key')
  return { body, ignored: [...ignored].sort() }
}

/** How much the model thinks. One that does takes no other temperature than its own. */
function addThinking(from: JsonObject, body: JsonObject, ignored: Set<string>): void {
  const found = thinkingFor(from, body['max_tokens'] ?? null)
  if (found) {
    body['thinking'] = found.thinking
    const { effort } = found
    if (effort) body['output_config'] = { ...objectOf(body['output_config']), effort }
  } else if (isSet(from['reasoning_effort'])) ignored.add('reasoning_effort')
  const isThinking = found !== undefined && found.thinking['type'] !== 'disabled'
  for (const name of ['temperature', 'top_p'] as const) {
    if (!isSet(from[name])) continue
    if (isThinking && from[name] !== 1) ignored.add(name)
    else body[name] = from[name]
  }
}

/** Notes what of a message has no place. */
function noteMessage(ignored: Set<string>, message: JsonObject): void {
  const { role, content } = message
  const known =
    role === 'assistant' ? inside.assistant : role === 'tool' ? inside.tool : inside.user
  noteOthers(ignored, 'messages', message, known)
  for (const part of objectsIn(content)) {
    noteOthers(ignored, 'messages', part, inside.part)
    noteOthers(ignored, 'messages.image_url', part['image_url'], inside.image)
    noteOthers(ignored, 'messages.file', part['file'], inside.file)
  }
  for (const call of objectsIn(message['tool_calls'])) {
    noteOthers(ignored, 'messages.tool_calls', call, inside.call)
  }
  const isReasoned = textOf(message['reasoning_content'] ?? message['reasoning']) !== ''
  const details = detailsOf(message)
  const isLost = isReasoned || details.length > 0
  // Each detail is one block, or it is not signed.
  if (isLost && reasoningBlocks(message).length < Math.max(1, details.length)) {
    ignored.add('messages.reasoning')
  }
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
    const input = inputOf(textOf(args))
    return { type: 'tool_use', id: textOf(call['id']), name: textOf(name), input }
  })
  const said = [...contentBlocks(message['content']), ...contentBlocks(message['refusal'])]
  return [...reasoningBlocks(message), ...said, ...calls]
}

/** Reasoning goes back only as it was signed; a stream gives its text beside the signature. */
function reasoningBlocks(message: JsonObject): JsonObject[] {
  const beside = textOf(message['reasoning_content'] ?? message['reasoning'])
  return detailsOf(message).flatMap((detail): JsonObject[] => {
    const { type, text, signature, data } = detail
    if (!isFor('messages', detail)) return []
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

function addTools(from: JsonObject, body: JsonObject, ignored: Set<string>): void {
  const tools = objectsIn(from['tools'])
  if (tools.length === 0) {
    // Without tools there is nothing to choose.
    for (const name of ['tool_choice', 'parallel_tool_calls']) {
      if (isSet(from[name])) ignored.add(name)
    }
    return
  }
  for (const tool of tools) {
    noteOthers(ignored, 'tools', tool, inside.toolOf)
    noteOthers(ignored, 'tools.function', tool['function'], inside.function)
  }
  const { tool_choice: asked } = from
  const allowed = isObject(asked) && asked['type'] === 'allowed_tools' ? asked : undefined
  const names = new Set(allowedIn(allowed).map(nameOf))
  const kept = allowed ? tools.filter((tool) => names.has(nameOf(tool))) : tools
  body['tools'] = kept.map((tool) => {
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
  const mode = objectOf(allowed?.['allowed_tools'])['mode']
  const choice = choiceOf(allowed ? mode : asked, single)
  if (choice) body['tool_choice'] = choice
}

const allowedIn = (choice: JsonObject | undefined): JsonObject[] =>
  objectsIn(objectOf(choice?.['allowed_tools'])['tools'])

const nameOf = (tool: JsonObject): string => textOf(objectOf(tool['function'])['name'])

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
