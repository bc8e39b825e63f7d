/**
 * Reads a request of Anthropic's Messages API as one of Chat Completions. What has no counterpart
 * is ignored by name; what would change the bill, or run something elsewhere, is refused.
 */
import type { Json } from '../../../kernel/canonical.ts'
import { isObject, isSet, type JsonObject, objectOf } from '../../../kernel/json-object.ts'
import { refuseField } from '../../../kernel/refusal.ts'
import { effortOf } from '../efforts.ts'
import { textOf } from '../reading.ts'
import { noteOthers, type Translation, unknownMembers } from '../translation.ts'
import { assistantOf, blocksOf, contentParts, userOf } from './read-content.ts'
import { addTools } from './read-tools.ts'

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
  'thinking',
  'speed',
  'fit',
])

/** Members of what stands inside of a request, as far as Chat Completions has a place for them. */
const inside = {
  message: new Set(['role', 'content']),
  thinking: new Set(['type', 'budget_tokens']),
  metadata: new Set(['user_id']),
  output: new Set(['format', 'effort']),
  format: new Set(['type', 'schema']),
}

/** Members that a server of this protocol would run by itself, or keep. */
const refused = ['container', 'mcp_servers'] as const

/**
 * @param model the id of the model that is asked: what it reasoned before goes back to it
 * @throws Refusal `invalid_request` with `param`
 */
export function messagesToChat(from: JsonObject, model = textOf(from['model'])): Translation {
  for (const name of refused) {
    if (isSet(from[name])) refuseField(name, `"${name}" is not served here. Leave it out.`)
  }
  if (isSet(from['speed']) && from['speed'] !== 'standard') {
    refuseField('speed', 'Only the standard speed has a price here. Leave "speed" out.')
  }
  const ignored = new Set(unknownMembers(from, known))
  const system = systemOf(from['system'], ignored)
  const messages = [...system, ...messagesOf(from['messages'], { model, ignored })]
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
  addEffort(from, body, ignored)
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
  const parts = blocksOf(system, 'system').flatMap((block, at) =>
    contentParts(block, `system[${at}]`, ignored, 'system'),
  )
  return parts.length === 0 ? [] : [{ role: 'system', content: parts }]
}

type ReadingContext = { model: string; ignored: Set<string> }

function messagesOf(messages: Json | undefined, wish: ReadingContext): JsonObject[] {
  const { ignored } = wish
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
    if (role === 'assistant') return [assistantOf(blocks, `${path}.content`, wish)]
    return userOf(blocks, `${path}.content`, role, ignored)
  })
}

function addEffort(from: JsonObject, body: JsonObject, ignored: Set<string>): void {
  const { thinking, output_config: config } = from
  const effort = effortOf(thinking, objectOf(config)['effort'], ignored)
  if (effort !== undefined) body['reasoning_effort'] = effort
  noteOthers(ignored, 'thinking', thinking, inside.thinking)
}

function addOutputConfig(config: Json | undefined, body: JsonObject, ignored: Set<string>): void {
  if (!isSet(config)) return
  if (!isObject(config)) refuseField('output_config', 'Send output_config as an object.')
  const { format } = config
  noteOthers(ignored, 'output_config', config, inside.output)
  if (!isSet(format)) return
  if (!isObject(format) || format['type'] !== 'json_schema' || !isObject(format['schema'])) {
    refuseField('output_config.format', 'Send a format of type json_schema with its schema.')
  }
  noteOthers(ignored, 'output_config.format', format, inside.format)
  const schema = { name: 'output', schema: format['schema'], strict: true }
  body['response_format'] = { type: 'json_schema', json_schema: schema }
}
