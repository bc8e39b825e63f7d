/** Makes items of answers what OpenAI's Responses API says they are. */
import type { Json } from '../../../kernel/canonical.ts'
import { isObject, type JsonObject, objectOf } from '../../../kernel/json-object.ts'
import { argumentsOf } from '../chat/repair-calls.ts'
import { objectsIn, textOf } from '../reading.ts'
import type { NewItemId } from '../repaired.ts'

/** Whether an item has the members of its type. Types that are not known here need an id alone. */
export function isItem(item: Json | undefined): item is JsonObject {
  if (!isObject(item) || !isName(item['id'])) return false
  switch (item['type']) {
    case 'message':
      return isMessage(item)
    case 'reasoning':
      return Array.isArray(item['summary'])
    case 'function_call':
      return isCall(item) && typeof item['arguments'] === 'string'
    case 'custom_tool_call':
      return isCall(item) && typeof item['input'] === 'string'
    default:
      return isName(item['type'])
  }
}

const isName = (value: Json | undefined): boolean => typeof value === 'string' && value !== ''

const isCall = ({ call_id, name }: JsonObject): boolean =>
  isName(call_id) && typeof name === 'string'

const isMessage = ({ content, role, status }: JsonObject): boolean =>
  role === 'assistant' &&
  typeof status === 'string' &&
  Array.isArray(content) &&
  content.every(
    (part) =>
      isObject(part) && (part['type'] !== 'output_text' || Array.isArray(part['annotations'])),
  )

/** Reasoning as a server takes it back: OpenAI's refuses the status, which clients send along. */
export const withoutStatus = (item: Json): Json => {
  if (!isObject(item) || item['type'] !== 'reasoning' || !('status' in item)) return item
  const { status: _, ...reasoning } = item
  return reasoning
}

const prefixes = new Map<unknown, string>([
  ['message', 'msg'],
  ['reasoning', 'rs'],
  ['function_call', 'fc'],
  ['custom_tool_call', 'ctc'],
])

/** An item with every member that its type needs. */
export function repairItem(
  item: Json | undefined,
  newId: NewItemId,
  status: 'in_progress' | 'completed',
): JsonObject {
  const from = objectOf(item)
  const type = typeOf(from)
  const { id } = from
  const named = { ...from, id: isName(id) ? (id ?? '') : newId(prefixes.get(type) ?? 'item'), type }
  const told = isName(from['status']) ? from['status'] : status
  if (type === 'message') {
    const content = partsOf(from['content']).map(repairPart)
    return { ...named, role: 'assistant', status: told ?? status, content }
  }
  if (type === 'reasoning') {
    const summary = textsIn(from['summary']).map((text) => ({ type: 'summary_text', text }))
    return { ...named, summary: Array.isArray(from['summary']) ? from['summary'] : summary }
  }
  if (type !== 'function_call' && type !== 'custom_tool_call') return named
  const { call_id: call, name, arguments: args, input } = from
  return {
    ...named,
    status: told ?? status,
    call_id: isName(call) ? (call ?? '') : newId('call'),
    name: textOf(name),
    ...(type === 'function_call'
      ? { arguments: argumentsOf(args ?? input) }
      : { input: argumentsOf(input ?? args) }),
  }
}

function typeOf({ type, content, name, summary, arguments: args }: JsonObject): string {
  if (typeof type === 'string' && type !== '') return type
  if (summary !== undefined && content === undefined) return 'reasoning'
  return name !== undefined || args !== undefined ? 'function_call' : 'message'
}

const partsOf = (content: Json | undefined): Json[] =>
  Array.isArray(content) ? content : content === undefined || content === null ? [] : [content]

/** A part of a message with every member that its type needs. */
export function repairPart(part: Json | undefined): JsonObject {
  if (typeof part === 'string') return repairPart({ type: 'output_text', text: part })
  const from = objectOf(part)
  const { type, text, refusal } = from
  if (type === 'refusal' || (type === undefined && refusal !== undefined)) {
    return { ...from, type: 'refusal', refusal: textOf(refusal) }
  }
  if (type === 'summary_text' || type === 'reasoning_text') return { ...from, text: textOf(text) }
  if (type !== undefined && type !== 'output_text' && type !== 'text') return from
  const { annotations, logprobs } = from
  return {
    ...from,
    type: 'output_text',
    text: textOf(text),
    annotations: Array.isArray(annotations) ? annotations : [],
    logprobs: Array.isArray(logprobs) ? logprobs : [],
  }
}

const textsIn = (summary: Json | undefined): string[] =>
  typeof summary === 'string' ? [summary] : objectsIn(summary).map(({ text }) => textOf(text))

/** A text of an item, by the events that add to it and its place there. */
export type PlacedText = { text: string; index: number; value: string }

/** The texts of an item in the order of their parts. */
export function saidIn(item: JsonObject): PlacedText[] {
  const { type, content, summary } = item
  if (type === 'function_call') return [said('function_call_arguments', 0, item['arguments'])]
  if (type === 'custom_tool_call') return [said('custom_tool_call_input', 0, item['input'])]
  if (type === 'reasoning') {
    return [
      ...objectsIn(summary).map(({ text }, at) => said('reasoning_summary_text', at, text)),
      ...objectsIn(content).map(({ text }, at) => said('reasoning_text', at, text)),
    ]
  }
  if (type !== 'message') return []
  return objectsIn(content).map((part, at) =>
    part['type'] === 'refusal'
      ? said('refusal', at, part['refusal'])
      : said('output_text', at, part['text']),
  )
}

const said = (text: string, index: number, value: Json | undefined): PlacedText => ({
  text,
  index,
  value: textOf(value),
})

/** An item without its texts, as it begins. */
export function emptied(item: JsonObject): JsonObject {
  switch (item['type']) {
    case 'message':
      return { ...item, status: 'in_progress', content: [] }
    case 'reasoning':
      return { ...item, summary: [] }
    case 'function_call':
      return { ...item, status: 'in_progress', arguments: '' }
    case 'custom_tool_call':
      return { ...item, status: 'in_progress', input: '' }
    default:
      return item
  }
}

/** Texts of items by the events that add to them: the type of the item, and the members for it. */
type ItemText = { text: string; type: string; index: string | undefined; member: string }

const itemTexts: ItemText[] = [
  { text: 'output_text', type: 'message', index: 'content_index', member: 'text' },
  { text: 'refusal', type: 'message', index: 'content_index', member: 'refusal' },
  { text: 'reasoning_text', type: 'reasoning', index: 'content_index', member: 'text' },
  { text: 'reasoning_summary_text', type: 'reasoning', index: 'summary_index', member: 'text' },
  {
    text: 'function_call_arguments',
    type: 'function_call',
    index: undefined,
    member: 'arguments',
  },
  { text: 'custom_tool_call_input', type: 'custom_tool_call', index: undefined, member: 'input' },
]

/** The events that add to a text of an item, or end it. `member` holds the text. */
export const textEvents: ReadonlyMap<string, TextEvent> = new Map(
  itemTexts.flatMap((one): [string, TextEvent][] => [
    [`response.${one.text}.delta`, { ...one, member: 'delta', isDelta: true }],
    [`response.${one.text}.done`, { ...one, isDelta: false }],
  ]),
)

export type TextEvent = ItemText & { isDelta: boolean }

/** An event that begins or ends a part; `name` is the member with its place. */
export type PartEvent = { name: 'content_index' | 'summary_index'; isAdded: boolean }

export const partEvents: ReadonlyMap<string, PartEvent> = new Map([
  ['response.content_part.added', { name: 'content_index', isAdded: true }],
  ['response.content_part.done', { name: 'content_index', isAdded: false }],
  ['response.reasoning_summary_part.added', { name: 'summary_index', isAdded: true }],
  ['response.reasoning_summary_part.done', { name: 'summary_index', isAdded: false }],
])

/** The part that a text is of: its events, where its place stands, and its type. */
export const partOf = (text: string): { event: string; name: PartEvent['name']; type?: string } =>
  text === 'reasoning_summary_text'
    ? { event: 'response.reasoning_summary_part', name: 'summary_index', type: 'summary_text' }
    : { event: 'response.content_part', name: 'content_index' }
