/** Makes blocks and deltas of messages what Anthropic's protocol says they are. */
import type { Json } from '../../../kernel/canonical.ts'
import { isObject, type JsonObject, objectOf } from '../../../kernel/json-object.ts'
import { isEmpty } from '../../free-members.ts'
import { argumentsOf } from '../chat/repair-calls.ts'
import { textOf } from '../reading.ts'
import type { NewItemId } from '../repaired.ts'

/** Whether a block has the members of its type. Types that are not known here pass. */
export function isBlock(block: Json | undefined): block is JsonObject {
  if (!isObject(block)) return false
  const { type, text, id, name, input, thinking } = block
  if (type === 'text') return typeof text === 'string'
  if (type === 'thinking')
    return typeof thinking === 'string' && typeof block['signature'] === 'string'
  if (type !== 'tool_use') return typeof type === 'string'
  return typeof id === 'string' && id !== '' && typeof name === 'string' && isObject(input)
}

/** A block with every member that its type needs. */
export function repairBlock(block: Json | undefined, newId: NewItemId): JsonObject {
  if (typeof block === 'string') return { type: 'text', text: block }
  const from = objectOf(block)
  const type = typeOf(from)
  if (type === 'text') return { ...from, type, text: textOf(from['text']) }
  if (type === 'thinking') {
    return {
      ...from,
      type,
      thinking: textOf(from['thinking'] ?? from['text']),
      signature: textOf(from['signature']),
    }
  }
  if (type !== 'tool_use') return { ...from, type }
  const { id, name, input, arguments: args, ...others } = from
  const isId = (typeof id === 'string' && id !== '') || typeof id === 'number'
  return {
    ...others,
    type,
    id: isId ? String(id) : newId('toolu'),
    name: textOf(name),
    input: inputIn(input ?? args),
  }
}

function typeOf({ type, text, thinking, input, name }: JsonObject): string {
  if (typeof type === 'string' && type !== '') return type
  if (text !== undefined) return 'text'
  if (thinking !== undefined) return 'thinking'
  return input !== undefined || name !== undefined ? 'tool_use' : 'text'
}

/** Arguments as an object; a text that is none of JSON's stays under a name of ours. */
function inputIn(value: Json | undefined): JsonObject {
  if (isObject(value)) return value
  if (isEmpty(value)) return {}
  try {
    const parsed: Json = JSON.parse(argumentsOf(value))
    if (isObject(parsed)) return parsed
    return isEmpty(parsed) ? {} : { arguments: parsed }
  } catch {
    return { arguments: value ?? null }
  }
}

/** The member of a delta that adds text, by its type. */
const added = new Map<unknown, string>([
  ['text_delta', 'text'],
  ['input_json_delta', 'partial_json'],
  ['thinking_delta', 'thinking'],
  ['signature_delta', 'signature'],
])

/** Whether a delta has the member of its type. Types that are not known here pass. */
export function isDelta(delta: Json | undefined): delta is JsonObject {
  if (!isObject(delta)) return false
  const member = added.get(delta['type'])
  return member === undefined
    ? typeof delta['type'] === 'string'
    : typeof delta[member] === 'string'
}

/** A delta as its type has it; undefined for one that adds nothing. */
export function repairDelta(delta: Json | undefined): JsonObject | undefined {
  const from = typeof delta === 'string' ? { type: 'text_delta', text: delta } : objectOf(delta)
  for (const [type, member] of added) {
    const value = from[member]
    if (from['type'] === undefined ? value === undefined : from['type'] !== type) continue
    const text = member === 'partial_json' ? argumentsOf(value) : textOf(value)
    return { ...from, type: String(type), [member]: text }
  }
  return typeof from['type'] === 'string' ? from : undefined
}

/** The block that a delta needs, where none was begun; undefined where its name is missing. */
export function blockOf({ type }: JsonObject): JsonObject | undefined {
  if (type === 'text_delta') return { type: 'text', text: '' }
  if (type === 'thinking_delta' || type === 'signature_delta') {
    return { type: 'thinking', thinking: '', signature: '' }
  }
  return undefined
}
