/** Writes a request of Chat Completions as one of OpenAI's Responses API. */
import type { Json } from '../../../kernel/canonical.ts'
import { isObject, isSet, type JsonObject, objectOf } from '../../../kernel/json-object.ts'
import { oldCallIn } from '../old-calls.ts'
import { objectsIn, textOf } from '../reading.ts'
import { detailsOf, isFor } from '../reasoning-details.ts'
import { noteOthers, type Translation, unknownMembers } from '../translation.ts'
import { sealedReasoning } from './unstored.ts'

const known = new Set([
  'model',
  'messages',
  'max_tokens',
  'max_completion_tokens',
  'n',
  'temperature',
  'top_p',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'response_format',
  'reasoning_effort',
  'prompt_cache_key',
  'verbosity',
  'service_tier',
  'user',
  'stream',
  'stream_options',
])

/** Members whose name means the same to both. */
const same = [
  ...['temperature', 'top_p', 'parallel_tool_calls', 'service_tier', 'user'],
  'prompt_cache_key',
]

const ofMessage = [
  ...['role', 'content', 'tool_call_id', 'tool_calls', 'refusal'],
  'reasoning_details',
]

/** Members of what stands inside of a request that have a counterpart. */
const inside = {
  message: new Set(ofMessage),
  reasoned: new Set([...ofMessage, 'reasoning', 'reasoning_content']),
  part: new Set(['type', 'text', 'refusal', 'image_url', 'file']),
  image: new Set(['url', 'detail']),
  file: new Set(['filename', 'file_data']),
  call: new Set(['id', 'type', 'index', 'function', 'custom']),
  tool: new Set(['type', 'function', 'custom']),
  format: new Set(['type', 'json_schema']),
}

/** Finds a part that this protocol cannot say and must not leave out; undefined if none. */
export function unsayable(body: JsonObject): { param: string; message: string } | undefined {
  const { n, logprobs, stop } = body
  if (typeof n === 'number' && n > 1) {
    return { param: 'n', message: 'This model gives one answer per request. Leave "n" out.' }
  }
  if (logprobs === true) {
    return {
      param: 'logprobs',
      message: 'This model does not return logprobs. Leave "logprobs" out.',
    }
  }
  const old = oldCallIn(body)
  if (old) return old
  if (!isSet(stop)) return undefined
  return { param: 'stop', message: 'This model does not support stop texts. Leave "stop" out.' }
}

/** Call {@link unsayable} before a run begins. */
export function chatToResponses(from: JsonObject): Translation {
  const ignored = new Set(unknownMembers(from, known))
  const body: JsonObject = {
    model: from['model'] ?? null,
    input: inputOf(objectsIn(from['messages']), ignored),
    max_output_tokens: from['max_completion_tokens'] ?? from['max_tokens'] ?? null,
    store: false,
  }
  for (const name of same) if (isSet(from[name])) body[name] = from[name]
  const { reasoning_effort: effort } = from
  if (isSet(effort)) body['reasoning'] = { effort }
  if (isReasoning(from)) body['include'] = [sealedReasoning]
  const tools = objectsIn(from['tools'])
  if (tools.length > 0) {
    for (const tool of tools) noteOthers(ignored, 'tools', tool, inside.tool)
    body['tools'] = tools.map(toolOf)
    if (isSet(from['tool_choice'])) body['tool_choice'] = choiceOf(from['tool_choice'])
  } else if (isSet(from['tool_choice'])) ignored.add('tool_choice')
  noteOthers(ignored, 'response_format', from['response_format'], inside.format)
  const text = textConfig(from)
  if (text) body['text'] = text
  return { body, ignored: [...ignored].sort() }
}

/** Whether a model reasons, as far as its request tells: others refuse to seal anything. */
function isReasoning({ model, reasoning_effort: effort }: JsonObject): boolean {
  if (isSet(effort)) return effort !== 'none'
  return /^(o\d|gpt-5|gpt-oss|codex)/.test(textOf(model).split('/').at(-1) ?? '')
}

function inputOf(messages: JsonObject[], ignored: Set<string>): JsonObject[] {
  const customs = new Set<string>()
  return messages.flatMap((message) => {
    noteMessage(ignored, message)
    for (const { id, custom } of objectsIn(message['tool_calls'])) {
      if (isObject(custom)) customs.add(textOf(id))
    }
    return itemsOf(message, customs)
  })
}

/** Notes what of a message has no place. */
function noteMessage(ignored: Set<string>, message: JsonObject): void {
  const details = detailsOf(message)
  // The words of reasoning whose seal goes back need not go along.
  const isSealed = details.some((detail) => isFor('responses', detail))
  noteOthers(ignored, 'messages', message, isSealed ? inside.reasoned : inside.message)
  if (!details.every((detail) => isFor('responses', detail))) {
    ignored.add('messages.reasoning_details')
  }
  for (const part of objectsIn(message['content'])) {
    noteOthers(ignored, 'messages', part, inside.part)
    noteOthers(ignored, 'messages.image_url', part['image_url'], inside.image)
    noteOthers(ignored, 'messages.file', part['file'], inside.file)
  }
  for (const call of objectsIn(message['tool_calls'])) {
    noteOthers(ignored, 'messages.tool_calls', call, inside.call)
  }
}

/** `customs`: the calls of custom tools, whose results are items of their own kind. */
function itemsOf(message: JsonObject, customs: ReadonlySet<string>): JsonObject[] {
  const { role, content, refusal } = message
  if (role === 'tool') {
    const call_id = textOf(message['tool_call_id'])
    const output = typeof content === 'string' ? content : partsOf(content, 'input_text')
    const type = customs.has(call_id) ? 'custom_tool_call_output' : 'function_call_output'
    return [{ type, call_id, output }]
  }
  const of = textOf(role)
  const isOurs = of === 'assistant'
  const said =
    typeof content === 'string' ? content : partsOf(content, isOurs ? 'output_text' : 'input_text')
  const items: JsonObject[] = isOurs ? reasoningItems(message) : []
  if (said.length > 0) items.push({ type: 'message', role: of, content: said })
  if (typeof refusal === 'string' && refusal !== '') {
    items.push({ type: 'message', role: of, content: [{ type: 'refusal', refusal }] })
  }
  for (const call of objectsIn(message['tool_calls'])) items.push(callItem(call))
  return items
}

/** Reasoning goes back only as it was sealed. */
const reasoningItems = (message: JsonObject): JsonObject[] =>
  detailsOf(message).flatMap((detail): JsonObject[] => {
    const { id, data } = detail
    if (!isFor('responses', detail) || typeof data !== 'string') return []
    return [{ type: 'reasoning', id: textOf(id), summary: [], encrypted_content: data }]
  })

function callItem(call: JsonObject): JsonObject {
  const call_id = textOf(call['id'])
  const { custom } = call
  if (isObject(custom)) {
    const { name, input } = custom
    return { type: 'custom_tool_call', call_id, name: textOf(name), input: textOf(input) }
  }
  const { name, arguments: args } = objectOf(call['function'])
  return { type: 'function_call', call_id, name: textOf(name), arguments: textOf(args) }
}

function partsOf(content: Json | undefined, text: 'input_text' | 'output_text'): JsonObject[] {
  return objectsIn(content).map((part): JsonObject => {
    switch (part['type']) {
      case 'image_url': {
        const { url, detail } = objectOf(part['image_url'])
        return { type: 'input_image', image_url: textOf(url), detail: detail ?? 'auto' }
      }
      case 'file': {
        const { filename, file_data } = objectOf(part['file'])
        return {
          type: 'input_file',
          filename: filename ?? 'document.pdf',
          file_data: file_data ?? '',
        }
      }
      case 'refusal':
        return { type: 'refusal', refusal: textOf(part['refusal']) }
      default:
        return { type: text, text: textOf(part['text']) }
    }
  })
}

function toolOf(tool: JsonObject): JsonObject {
  if (tool['type'] === 'custom') {
    const { format, ...rest } = objectOf(tool['custom'])
    const { type, grammar } = objectOf(format)
    const flat = type === 'grammar' ? { type, ...objectOf(grammar) } : format
    return { type: 'custom', ...rest, ...(isSet(flat) ? { format: flat } : {}) }
  }
  const { parameters, strict, ...rest } = objectOf(tool['function'])
  return { type: 'function', ...rest, parameters: parameters ?? null, strict: strict ?? false }
}

function choiceOf(choice: Json): Json {
  if (!isObject(choice)) return choice
  const type = textOf(choice['type'])
  if (type === 'allowed_tools') {
    const { tools, ...rest } = objectOf(choice[type])
    return { type, ...rest, tools: objectsIn(tools).map(choiceOf) }
  }
  return { type, name: objectOf(choice[type])['name'] ?? '' }
}

function textConfig(from: JsonObject): JsonObject | undefined {
  const { verbosity } = from
  const format = objectOf(from['response_format'])
  const shaped =
    format['type'] === 'json_schema'
      ? { type: 'json_schema', ...objectOf(format['json_schema']) }
      : format['type'] === 'json_object'
        ? { type: 'json_object' }
        : undefined
  if (!shaped && !isSet(verbosity)) return undefined
  return { ...(shaped ? { format: shaped } : {}), ...(isSet(verbosity) ? { verbosity } : {}) }
}
