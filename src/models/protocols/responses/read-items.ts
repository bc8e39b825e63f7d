/**
 * Reads the items of a Responses request as messages of Chat Completions. Items without a
 * counterpart become text of their role, so that no conversation ends by what it holds.
 */
import type { Json } from '../../../kernel/canonical.ts'
import { isObject, isSet, type JsonObject } from '../../../kernel/json-object.ts'
import { refuseField } from '../../../kernel/refusal.ts'
import { objectsIn, textIn, textOf } from '../reading.ts'
import { RestoredTurn } from '../restored-turn.ts'
import { noteOthers } from '../translation.ts'
import { partsOf, wordsIn } from './read-parts.ts'
import { bringsTools, type ToolNames } from './read-tools.ts'
import { isReasoningReference, reasoningItems } from './unstored.ts'

/** Members of items that Chat Completions has a place for, or that only name them. */
const inside = new Map([
  ['message', new Set(['type', 'id', 'status', 'role', 'content'])],
  ['function_call', new Set(['type', 'id', 'status', 'call_id', 'name', 'namespace', 'arguments'])],
  ['custom_tool_call', new Set(['type', 'id', 'status', 'call_id', 'name', 'namespace', 'input'])],
  ['function_call_output', new Set(['type', 'id', 'status', 'call_id', 'output'])],
  ['custom_tool_call_output', new Set(['type', 'id', 'status', 'call_id', 'output'])],
])

type ReadingContext = { model: string; names: ToolNames; ignored: Set<string> }

/**
 * The messages of a conversation that stands as items.
 * @throws Refusal `invalid_request` with `param`
 */
export function messagesOf(from: JsonObject, wish: ReadingContext): JsonObject[] {
  const { input, instructions } = from
  const reading = new Reading(wish)
  if (isSet(instructions)) {
    if (typeof instructions !== 'string') refuseField('instructions', 'Send instructions as text.')
    reading.messages.push({ role: 'system', content: instructions })
  }
  if (typeof input === 'string') return [...reading.messages, { role: 'user', content: input }]
  if (!Array.isArray(input)) refuseField('input', 'Send input as text or as a list of items.')
  input.forEach((item, index) => {
    const path = `input[${index}]`
    if (!isObject(item)) refuseField(path, 'An item is an object with a type.')
    reading.add(item, path)
  })
  return reading.end()
}

const roles = new Set(['user', 'assistant', 'system', 'developer'])

/** Items that only say how a conversation goes on. */
const settings = new Set(['compaction_trigger', 'configuration_update'])

/** One conversation, as far as it was read. */
class Reading {
  readonly messages: JsonObject[] = []
  /** Images and files of results follow when all results of the turn are there. */
  private later: JsonObject[] = []
  /** The reasoning of the turn that is being read. */
  private turn: RestoredTurn | undefined
  /** The message made of items without a role: the assistant's next words go on in it. */
  private loose: JsonObject | undefined

  constructor(private readonly wish: ReadingContext) {}

  add(item: JsonObject, path: string): void {
    const type = textOf(item['type'] ?? 'message')
    const { ignored } = this.wish
    const known = inside.get(type)
    if (known) noteOthers(ignored, 'input', item, known)
    if (!isOutput(type)) for (const message of this.later.splice(0)) this.push(message)
    switch (type) {
      case 'message':
        this.addMessage(item, path)
        return
      case 'function_call':
        this.addCall(this.callOf(item, path, { type: 'function', said: 'arguments' }))
        return
      case 'custom_tool_call':
        this.addCall(this.callOf(item, path, { type: 'custom', said: 'input' }))
        return
      case 'function_call_output':
      case 'custom_tool_call_output':
        this.addOutput(item, path)
        return
      case 'reasoning':
        this.addReasoning(item)
        return
      case 'item_reference':
        if (isReasoningReference(item)) ignored.add(reasoningItems)
        else refuseField(path, 'Items are not stored here: set "store": false, or send it whole.')
        return
      default:
        this.addOther(item, type)
    }
  }

  /** All messages, when no item follows. */
  end(): JsonObject[] {
    for (const message of this.later) this.push(message)
    this.endTurn()
    return this.messages
  }

  /** Adds a message; one that is not the assistant's ends a turn of it. */
  private push(message: JsonObject): void {
    if (message['role'] !== 'assistant') this.endTurn()
    this.messages.push(message)
  }

  private endTurn(): void {
    const last = this.lastOfAssistant()
    if (last) this.turn?.restore(last)
    this.turn = undefined
    this.loose = undefined
  }

  private lastOfAssistant(): JsonObject | undefined {
    const last = this.messages.at(-1)
    return last?.['role'] === 'assistant' ? last : undefined
  }

  private addMessage(item: JsonObject, path: string): void {
    const { role, content } = item
    if (typeof role !== 'string' || !roles.has(role)) {
      refuseField(`${path}.role`, 'The role of a message is user, assistant, system or developer.')
    }
    // Model servers beyond OpenAI's own know no developer.
    const as = role === 'developer' ? 'system' : role
    const said =
      typeof content === 'string' ? content : partsOf(content, `${path}.content`, this.wish.ignored)
    const last = this.lastOfAssistant()
    if (as === 'assistant' && last && last === this.loose) addParts(last, said)
    else this.push({ role: as, content: said })
  }

  /** Calls of one turn stand in one message, beside the text before them. */
  private addCall(call: JsonObject): void {
    const last = this.lastOfAssistant()
    const calls = last?.['tool_calls']
    if (Array.isArray(calls)) calls.push(call)
    else if (last) last['tool_calls'] = [call]
    else this.push({ role: 'assistant', content: null, tool_calls: [call] })
  }

  private callOf(item: JsonObject, path: string, { type, said }: CallKind): JsonObject {
    const { namespace } = item
    const within = typeof namespace === 'string' ? namespace : undefined
    const name = this.wish.names.of(textIn(item, 'name', path), within)
    return {
      id: textIn(item, 'call_id', path),
      type,
      [type]: { name, [said]: textIn(item, said, path) },
    }
  }

  private addOutput(item: JsonObject, path: string): void {
    const { output } = item
    const id = textIn(item, 'call_id', path)
    if (typeof output === 'string') {
      this.push({ role: 'tool', tool_call_id: id, content: output })
      return
    }
    const parts = partsOf(output, `${path}.output`, this.wish.ignored)
    const texts = parts.filter(({ type }) => type === 'text')
    const others = parts.filter(({ type }) => type !== 'text')
    this.push({ role: 'tool', tool_call_id: id, content: texts.length === 0 ? '' : texts })
    // A result of Chat Completions is text: what else there is follows as the user's.
    if (others.length > 0) this.later.push({ role: 'user', content: others })
  }

  /** Reasoning goes back to the model that said it, or it was sealed for another server. */
  private addReasoning(item: JsonObject): void {
    const { encrypted_content: sealed, summary } = item
    const text = objectsIn(summary)
      .map((part) => textOf(part['text']))
      .join('')
    this.turn ??= new RestoredTurn(this.wish.model)
    if (!this.turn.add(text, sealed)) this.wish.ignored.add(reasoningItems)
  }

  private addOther(item: JsonObject, type: string): void {
    const { ignored } = this.wish
    if (settings.has(type)) {
      // A configuration is read beside the items.
      if (type === 'compaction_trigger') ignored.add(`input.${type}`)
      return
    }
    if (bringsTools(item)) return
    const parts = wordsIn(item, ignored)
    if (parts.length === 0) return
    const role = roleOf(item, type)
    if (isOutput(type)) this.later.push({ role: 'user', content: parts })
    else if (role !== 'assistant') this.push({ role, content: parts })
    else this.addLoose(parts)
  }

  private addLoose(parts: JsonObject[]): void {
    const last = this.lastOfAssistant()
    if (last) addParts(last, parts)
    else {
      this.loose = { role: 'assistant', content: parts }
      this.push(this.loose)
    }
  }
}

type CallKind = { type: 'function' | 'custom'; said: 'arguments' | 'input' }

const isOutput = (type: string): boolean => /_(output|response)$/.test(type)

/** The speaker of an item that names none: calls are the assistant's. */
function roleOf({ role }: JsonObject, type: string): string {
  if (typeof role === 'string' && roles.has(role)) return role === 'developer' ? 'system' : role
  return type.endsWith('_call') || type.startsWith('mcp_') ? 'assistant' : 'user'
}

function addParts(message: JsonObject, said: string | JsonObject[]): void {
  const { content } = message
  const parts: Json[] = Array.isArray(content) ? content : []
  if (typeof content === 'string' && content !== '') parts.push({ type: 'text', text: content })
  if (typeof said === 'string') parts.push({ type: 'text', text: said })
  else for (const part of said) parts.push(part)
  message['content'] = parts
}

/** The settings that the last items of their kind change. */
export function settingsIn(input: Json | undefined): { reasoning?: Json; text?: Json } {
  const settings: { reasoning?: Json; text?: Json } = {}
  for (const { type, reasoning, text } of objectsIn(input)) {
    if (type !== 'configuration_update') continue
    if (isSet(reasoning)) settings.reasoning = reasoning
    if (isSet(text)) settings.text = text
  }
  return settings
}
