/**
 * Reads a request of Anthropic's Messages API as one of Chat Completions. What has no counterpart
 * is ignored by name; what would change the bill, or run something elsewhere, is refused.
 */
import type { Json } from '../../../kernel/canonical.ts'
import { isObject, type JsonObject } from '../../../kernel/json-object.ts'
import { isSet, refuseField } from '../../body.ts'
import { quoted, textIn } from '../reading.ts'
import { noteOthers, type Translation, unknownMembers } from '../translation.ts'

/** Members that are read, or whose absence from the translated request changes nothing. */
const known = new Set([
  'model',
  'messages',
  'system',
  'max_tokens',
  'stop_sequences',
  'stream',
  'temperature',
  'top_p',
  'tools',
  'tool_choice',
  'metadata',
  'output_config',
  'speed',
  'fit',
])

/** Members of what stands inside of a request, as far as Chat Completions has a place for them. */
const inside = {
  message: new Set(['role', 'content']),
  text: new Set(['type', 'text']),
  image: new Set(['type', 'source']),
  document: new Set(['type', 'source', 'title']),
  source: new Set(['type', 'media_type', 'data']),
  call: new Set(['type', 'id', 'name', 'input']),
  result: new Set(['type', 'tool_use_id', 'content', 'is_error']),
  tool: new Set(['type', 'name', 'description', 'input_schema', 'strict']),
  choice: new Set(['type', 'name', 'disable_parallel_tool_use']),
  metadata: new Set(['user_id']),
  output: new Set(['format', 'effort']),
  format: new Set(['type', 'schema']),
}

/** What a server of this protocol would run by itself, or keep. */
const refused = ['container', 'mcp_servers'] as const

/** @throws Refusal `invalid_request` with `param` */
export function messagesToChat(from: JsonObject): Translation {
  for (const name of refused) {
    if (isSet(from[name])) refuseField(name, `"${name}" is not served here. Leave it out.`)
  }
  if (isSet(from['speed']) && from['speed'] !== 'standard') {
    refuseField('speed', 'Only the standard speed has a price here. Leave "speed" out.')
  }
  const ignored = new Set(unknownMembers(from, known))
  const system = systemOf(from['system'], ignored)
  const messages = [...system, ...messagesOf(from['messages'], ignored)]
  const body: JsonObject = { model: from['model'] ?? null, messages }
  if (!isSet(from['max_tokens'])) {
    refuseField('max_tokens', 'Send max_tokens: the most tokens of the answer.')
  }
  body['max_tokens'] = from['max_tokens']
  for (const name of ['temperature', 'top_p', 'stream'] as const) {
    if (isSet(from[name])) body[name] = from[name]
  }
  if (isSet(from['stop_sequences'])) body['stop'] = from['stop_sequences']
  addTools(from, body, ignored)
  addOutputConfig(from['output_config'], body, ignored)
  const { metadata } = from
  if (isObject(metadata) && typeof metadata['user_id'] === 'string') {
    body['user'] = metadata['user_id']
    noteOthers(ignored, 'metadata', metadata, inside.metadata)
  } else if (isSet(metadata)) ignored.add('metadata')
  return { body, ignored: [...ignored].sort() }
}

function systemOf(system: Json | undefined, ignored: Set<string>): JsonObject[] {
  if (!isSet(system)) return []
  if (typeof system === 'string') return system === '' ? [] : [{ role: 'system', content: system }]
  const parts = blocksOf(system, 'system').map((block, at) => {
    noteOthers(ignored, 'system', block, inside.text)
    return textPart(block, `system[${at}]`)
  })
  return parts.length === 0 ? [] : [{ role: 'system', content: parts }]
}

function messagesOf(messages: Json | undefined, ignored: Set<string>): JsonObject[] {
  if (!Array.isArray(messages)) refuseField('messages', 'Send messages as a list.')
  return messages.flatMap((message, index) => {
    const path = `messages[${index}]`
    if (!isObject(message)) refuseField(path, 'A message is an object with a role and a content.')
    const { role, content } = message
    if (role !== 'user' && role !== 'assistant' && role !== 'system') {
      refuseField(`${path}.role`, 'The role of a message is user, assistant or system.')
    }
    noteOthers(ignored, 'messages', message, inside.message)
    if (typeof content === 'string') return [{ role, content }]
    const blocks = blocksOf(content, `${path}.content`)
    if (role === 'assistant') return [assistantOf(blocks, `${path}.content`, ignored)]
    return userOf(blocks, `${path}.content`, role, ignored)
  })
}

function blocksOf(content: Json | undefined, path: string): JsonObject[] {
  if (!Array.isArray(content)) refuseField(path, 'Send text or a list of blocks.')
  return content.map((block, at) =>
    isObject(block) ? block : refuseField(`${path}[${at}]`, 'A block is an object with a type.'),
  )
}

/** Results of tools come first, each a message of its own, as Chat Completions wants them. */
function userOf(
  blocks: JsonObject[],
  path: string,
  role: 'user' | 'system',
  ignored: Set<string>,
): JsonObject[] {
  const results: JsonObject[] = []
  const parts: JsonObject[] = []
  blocks.forEach((block, at) => {
    const where = `${path}[${at}]`
    if (block['type'] !== 'tool_result') {
      parts.push(contentPart(block, where, ignored))
      return
    }
    noteOthers(ignored, 'messages', block, inside.result)
    const { text, others } = resultOf(block, where, ignored)
    results.push({ role: 'tool', tool_call_id: textIn(block, 'tool_use_id', where), content: text })
    // A result of Chat Completions is text: what else there is follows as the user's.
    parts.push(...others)
    if (block['is_error'] === true) ignored.add('tool_result.is_error')
  })
  return parts.length === 0 ? results : [...results, { role, content: parts }]
}

function resultOf(
  block: JsonObject,
  path: string,
  ignored: Set<string>,
): { text: Json; others: JsonObject[] } {
  const { content } = block
  if (!isSet(content)) return { text: '', others: [] }
  if (typeof content === 'string') return { text: content, others: [] }
  const parts = blocksOf(content, `${path}.content`).map((one, at) =>
    contentPart(one, `${path}.content[${at}]`, ignored),
  )
  const texts = parts.filter(({ type }) => type === 'text')
  return {
    text: texts.length === 0 ? '' : texts,
    others: parts.filter(({ type }) => type !== 'text'),
  }
}

function contentPart(block: JsonObject, path: string, ignored: Set<string>): JsonObject {
  const { type } = block
  if (type === 'text') {
    noteOthers(ignored, 'messages', block, inside.text)
    return textPart(block, path)
  }
  if (type !== 'image' && type !== 'document') {
    refuseField(path, `A block of type ${quoted(type)} is not read by this model.`)
  }
  const { source } = block
  if (!isObject(source)) refuseField(`${path}.source`, 'This block needs a source.')
  const form = source['type']
  const isTitled = type === 'document' && form === 'base64'
  noteOthers(ignored, 'messages', block, isTitled ? inside.document : inside.image)
  noteOthers(ignored, 'messages.source', source, inside.source)
  if (type === 'document' && form === 'text') {
    return { type: 'text', text: textIn(source, 'data', `${path}.source`) }
  }
  if (form !== 'base64') {
    refuseField(`${path}.source.type`, 'Send the content itself: a source of type base64.')
  }
  const media = textIn(source, 'media_type', `${path}.source`)
  const url = `data:${media};base64,${textIn(source, 'data', `${path}.source`)}`
  if (type === 'image') return { type: 'image_url', image_url: { url } }
  const title = typeof block['title'] === 'string' ? block['title'] : 'document.pdf'
  return { type: 'file', file: { filename: title, file_data: url } }
}

const textPart = (block: JsonObject, path: string): JsonObject => {
  if (block['type'] === 'text') return { type: 'text', text: textIn(block, 'text', path) }
  return refuseField(path, `A block of type ${quoted(block['type'])} does not belong here.`)
}

/** Reasoning is between the model and its own server: another one cannot read its signature. */
function assistantOf(blocks: JsonObject[], path: string, ignored: Set<string>): JsonObject {
  const texts: JsonObject[] = []
  const calls: JsonObject[] = []
  blocks.forEach((block, at) => {
    const where = `${path}[${at}]`
    const { type } = block
    if (type === 'thinking' || type === 'redacted_thinking') {
      ignored.add(String(type))
      return
    }
    noteOthers(ignored, 'messages', block, type === 'tool_use' ? inside.call : inside.text)
    if (type === 'tool_use') calls.push(callOf(block, where))
    else texts.push(textPart(block, where))
  })
  const message: JsonObject = { role: 'assistant', content: texts.length === 0 ? null : texts }
  if (calls.length > 0) message['tool_calls'] = calls
  // A turn of nothing but reasoning is a turn all the same.
  else if (texts.length === 0) message['content'] = ''
  return message
}

const callOf = (block: JsonObject, path: string): JsonObject => ({
  id: textIn(block, 'id', path),
  type: 'function',
  function: {
    name: textIn(block, 'name', path),
    arguments: JSON.stringify(block['input'] ?? {}),
  },
})

function addTools(from: JsonObject, body: JsonObject, ignored: Set<string>): void {
  const { tools, tool_choice: choice } = from
  if (isSet(tools)) {
    if (!Array.isArray(tools)) refuseField('tools', 'Send tools as a list.')
    for (const tool of tools) noteOthers(ignored, 'tools', tool, inside.tool)
    if (tools.length > 0) body['tools'] = tools.map(toolOf)
  }
  if (!isSet(choice)) return
  if (!isObject(choice)) refuseField('tool_choice', 'Send tool_choice as an object with a type.')
  const wanted = choiceOf(choice)
  noteOthers(ignored, 'tool_choice', choice, inside.choice)
  // Without tools there is nothing to choose, and model servers refuse a choice.
  if (body['tools'] === undefined) ignored.add('tool_choice')
  else {
    body['tool_choice'] = wanted
    if (choice['disable_parallel_tool_use'] === true) body['parallel_tool_calls'] = false
  }
}

function choiceOf(choice: JsonObject): Json {
  switch (choice['type']) {
    case 'auto':
    case 'none':
      return choice['type']
    case 'any':
      return 'required'
    case 'tool':
      return { type: 'function', function: { name: textIn(choice, 'name', 'tool_choice') } }
    default:
      return refuseField('tool_choice.type', 'Send auto, any, tool or none.')
  }
}

function toolOf(tool: Json, index: number): JsonObject {
  const path = `tools[${index}]`
  if (!isObject(tool)) refuseField(path, 'A tool is an object with a name and an input_schema.')
  const { type, description, input_schema: parameters, strict } = tool
  if (isSet(type) && type !== 'custom') {
    refuseField(`${path}.type`, `A tool of type ${quoted(type)} is not served by this model.`)
  }
  return {
    type: 'function',
    function: {
      name: textIn(tool, 'name', path),
      ...(isSet(description) ? { description } : {}),
      parameters: parameters ?? { type: 'object', properties: {} },
      ...(isSet(strict) ? { strict } : {}),
    },
  }
}

function addOutputConfig(config: Json | undefined, body: JsonObject, ignored: Set<string>): void {
  if (!isSet(config)) return
  if (!isObject(config)) refuseField('output_config', 'Send output_config as an object.')
  const { format, effort } = config
  noteOthers(ignored, 'output_config', config, inside.output)
  if (isSet(effort)) ignored.add('output_config.effort')
  if (!isSet(format)) return
  if (!isObject(format) || format['type'] !== 'json_schema' || !isObject(format['schema'])) {
    refuseField('output_config.format', 'Send a format of type json_schema with its schema.')
  }
  noteOthers(ignored, 'output_config.format', format, inside.format)
  const schema = { name: 'output', schema: format['schema'], strict: true }
  body['response_format'] = { type: 'json_schema', json_schema: schema }
}
