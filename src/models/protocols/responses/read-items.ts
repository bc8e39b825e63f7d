/** Reads the items of a Responses request as messages of Chat Completions. */
import type { Json } from '../../../kernel/canonical.ts'
import { isObject, type JsonObject } from '../../../kernel/json-object.ts'
import { isSet, refuseField } from '../../body.ts'
import { quoted, textIn, textOf } from '../reading.ts'
import { noteOthers } from '../translation.ts'
import { isReasoningReference, reasoningItems } from './unstored.ts'

/** Members of items and parts that Chat Completions has a place for, or that only name them. */
const inside = new Map([
  ['message', new Set(['type', 'id', 'status', 'role', 'content'])],
  ['function_call', new Set(['type', 'id', 'status', 'call_id', 'name', 'arguments'])],
  ['custom_tool_call', new Set(['type', 'id', 'status', 'call_id', 'name', 'input'])],
  ['function_call_output', new Set(['type', 'id', 'status', 'call_id', 'output'])],
  ['custom_tool_call_output', new Set(['type', 'id', 'status', 'call_id', 'output'])],
  ['input_text', new Set(['type', 'text'])],
  ['output_text', new Set(['type', 'text'])],
  ['text', new Set(['type', 'text'])],
  ['refusal', new Set(['type', 'refusal'])],
  ['input_image', new Set(['type', 'image_url', 'detail'])],
  ['input_file', new Set(['type', 'file_data', 'filename'])],
])

/** Notes what of an item or a part has no place. */
function noteInside(ignored: Set<string>, from: JsonObject, type: string): void {
  const known = inside.get(type)
  if (known) noteOthers(ignored, 'input', from, known)
}

/**
 * The messages of a conversation that stands as items.
 * @throws Refusal `invalid_request` with `param`
 */
export function messagesOf(from: JsonObject, ignored: Set<string>): JsonObject[] {
  const { input, instructions } = from
  const messages: JsonObject[] = []
  const later: JsonObject[] = []
  if (isSet(instructions)) {
    if (typeof instructions !== 'string') refuseField('instructions', 'Send instructions as text.')
    messages.push({ role: 'system', content: instructions })
  }
  if (typeof input === 'string') return [...messages, { role: 'user', content: input }]
  if (!Array.isArray(input)) refuseField('input', 'Send input as text or as a list of items.')
  input.forEach((item, index) => {
    const path = `input[${index}]`
    if (!isObject(item)) refuseField(path, 'An item is an object with a type.')
    // What a result cannot say follows when all results of the turn are there.
    if (!textOf(item['type']).endsWith('_output')) messages.push(...later.splice(0))
    addItem({ messages, later, ignored }, item, path)
  })
  messages.push(...later)
  return messages
}

type Reading = { messages: JsonObject[]; later: JsonObject[]; ignored: Set<string> }

function addItem({ messages, later, ignored }: Reading, item: JsonObject, path: string): void {
  const type = item['type'] ?? 'message'
  noteInside(ignored, item, textOf(type))
  switch (type) {
    case 'message':
      messages.push(messageOf(item, path, ignored))
      return
    case 'function_call':
      addCall(messages, callOf(item, path, { type: 'function', said: 'arguments' }))
      return
    case 'custom_tool_call':
      addCall(messages, callOf(item, path, { type: 'custom', said: 'input' }))
      return
    case 'function_call_output':
    case 'custom_tool_call_output':
      addOutput({ messages, later, ignored }, item, path)
      return
    case 'reasoning':
      // It is sealed for the server that made it.
      ignored.add(reasoningItems)
      return
    case 'item_reference':
      if (isReasoningReference(item)) ignored.add(reasoningItems)
      else refuseField(path, 'Items are not stored here: set "store": false, or send it whole.')
      return
    default:
      refuseField(`${path}.type`, `An item of type ${quoted(type)} is not read by this model.`)
  }
}

type CallKind = { type: 'function' | 'custom'; said: 'arguments' | 'input' }

const callOf = (item: JsonObject, path: string, { type, said }: CallKind): JsonObject => ({
  id: textIn(item, 'call_id', path),
  type,
  [type]: { name: textIn(item, 'name', path), [said]: textIn(item, said, path) },
})

/** Calls of one turn stand in one message, beside the text before them. */
function addCall(messages: JsonObject[], call: JsonObject): void {
  const last = messages.at(-1)
  if (last?.['role'] === 'assistant') {
    // A message of ours: thousands of calls are added in the time of their number.
    if (Array.isArray(last['tool_calls'])) last['tool_calls'].push(call)
    else last['tool_calls'] = [call]
  } else messages.push({ role: 'assistant', content: null, tool_calls: [call] })
}

function addOutput({ messages, later, ignored }: Reading, item: JsonObject, path: string): void {
  const { output } = item
  const id = textIn(item, 'call_id', path)
  if (typeof output === 'string') {
    messages.push({ role: 'tool', tool_call_id: id, content: output })
    return
  }
  const parts = partsOf(output, `${path}.output`, ignored)
  const texts = parts.filter(({ type }) => type === 'text')
  const others = parts.filter(({ type }) => type !== 'text')
  messages.push({ role: 'tool', tool_call_id: id, content: texts.length === 0 ? '' : texts })
  // A result of Chat Completions is text: what else there is follows as the user's.
  if (others.length > 0) later.push({ role: 'user', content: others })
}

const roles = new Set(['user', 'assistant', 'system', 'developer'])

function messageOf(item: JsonObject, path: string, ignored: Set<string>): JsonObject {
  const { role, content } = item
  if (typeof role !== 'string' || !roles.has(role)) {
    refuseField(`${path}.role`, 'The role of a message is user, assistant, system or developer.')
  }
  // Model servers beyond OpenAI's own know no developer.
  const as = role === 'developer' ? 'system' : role
  if (typeof content === 'string') return { role: as, content }
  return { role: as, content: partsOf(content, `${path}.content`, ignored) }
}

function partsOf(content: Json | undefined, path: string, ignored: Set<string>): JsonObject[] {
  if (!Array.isArray(content)) refuseField(path, 'Send text or a list of parts.')
  return content.map((part, at) => {
    const where = `${path}[${at}]`
    if (!isObject(part)) refuseField(where, 'A part is an object with a type.')
    noteInside(ignored, part, textOf(part['type']))
    return partOf(part, where)
  })
}

function partOf(part: JsonObject, path: string): JsonObject {
  const { type } = part
  for (const name of ['file_id', 'file_url']) {
    if (isSet(part[name])) refuseField(`${path}.${name}`, 'Send the content itself.')
  }
  switch (type) {
    case 'input_text':
    case 'output_text':
    case 'text':
      return { type: 'text', text: textIn(part, 'text', path) }
    case 'refusal':
      return { type: 'refusal', refusal: textIn(part, 'refusal', path) }
    case 'input_image': {
      const url = part['image_url']
      if (typeof url !== 'string') {
        refuseField(`${path}.image_url`, 'Send the image itself as a data: URL in image_url.')
      }
      const { detail } = part
      const seen: JsonObject = isSet(detail) && detail !== 'auto' ? { detail } : {}
      return { type: 'image_url', image_url: { url, ...seen } }
    }
    case 'input_file': {
      const data = part['file_data']
      if (typeof data !== 'string') {
        refuseField(`${path}.file_data`, 'Send the file itself as a data: URL in file_data.')
      }
      const { filename = 'document.pdf' } = part
      return { type: 'file', file: { filename, file_data: data } }
    }
    default:
      return refuseField(
        `${path}.type`,
        `A part of type ${quoted(type)} is not read by this model.`,
      )
  }
}
