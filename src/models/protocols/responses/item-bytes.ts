/** Counts what the events of one item say: whole, in pieces, or both, but each text once. */
import type { Json } from '../../../kernel/canonical.ts'
import { type JsonObject, objectOf } from '../../../kernel/json-object.ts'
import { MemberBytes } from '../member-bytes.ts'
import { textOf } from '../reading.ts'

/** The texts of an item that it repeats when it is done, by the names of their events. */
const repeated = new Set([
  ...['output_text', 'refusal', 'reasoning_text', 'reasoning_summary_text', 'part'],
  ...['function_call_arguments', 'custom_tool_call_input', 'mcp_call_arguments'],
  ...['code_interpreter_call_code', 'shell_call_command', 'output_text.annotation'],
])

/** The text that a part of this type holds. */
const texts = new Map([
  ['output_text', 'output_text'],
  ['refusal', 'refusal'],
  ['reasoning_text', 'reasoning_text'],
  ['summary_text', 'reasoning_summary_text'],
])

/** Events that tell a text of an item in one: its beginning, or all of it. */
const textEvent = /^response\.(.+)\.(added|done)$/

/** The places of one text among others of its name. */
const places = ['content_index', 'summary_index', 'annotation_index', 'command_index'] as const

/** Members of a response that are told from the request, or repeat its items. */
const echoed = new Set([
  ...['output', 'output_text', 'instructions', 'metadata', 'tools', 'tool_choice', 'reasoning'],
  ...['text', 'prompt', 'prompt_cache_key', 'prompt_cache_options', 'prompt_cache_retention'],
  ...['truncation', 'user', 'safety_identifier', 'previous_response_id', 'conversation'],
  ...['temperature', 'top_p', 'top_logprobs', 'parallel_tool_calls', 'max_output_tokens'],
  ...['max_tool_calls', 'background', 'store', 'include', 'usage', 'id', 'status', 'error'],
  ...['incomplete_details', 'frequency_penalty', 'presence_penalty', 'billing', 'tool_usage'],
  ...['access_programs', 'image', 'prompt_cache_diagnostics', 'model', 'object', 'service_tier'],
  ...['created_at', 'completed_at', 'input'],
])

export class ItemBytes {
  /** The item as it was added, and as it was done. */
  private begun: MemberBytes | undefined
  private done: MemberBytes | undefined
  /** Bytes of each text. */
  private readonly texts = new Map<string, number>()
  /** The bytes of all that nothing repeats. */
  private readonly others = new MemberBytes()

  add(event: JsonObject): void {
    const type = textOf(event['type'])
    const { delta } = event
    if (typeof delta === 'string' && type.endsWith('.delta')) {
      const name = type.slice('response.'.length, -'.delta'.length)
      const key = keyOf(name, event)
      this.texts.set(key, (this.texts.get(key) ?? 0) + Buffer.byteLength(delta))
      this.others.addMembers(event, 'delta')
      return
    }
    if (type === 'response.output_item.added') this.begun = this.itemOf(event)
    else if (type === 'response.output_item.done') this.done = larger(this.done, this.itemOf(event))
    else if (event['response'] !== undefined) this.addResponse(event)
    else if (delta !== undefined) this.others.addMembers(event)
    else this.addOther(event, textEvent.exec(type)?.[1])
  }

  /** Takes an item of an answer that tells all of its items. */
  addWhole(item: JsonObject): void {
    const whole = new MemberBytes()
    whole.addMembers(item)
    this.done = larger(this.done, whole)
  }

  addTo(sum: MemberBytes): void {
    const { begun, done, others } = this
    let again = 0
    let alone = 0
    for (const [key, bytes] of this.texts) {
      if (repeated.has(nameOf(key))) again += bytes
      else alone += bytes
    }
    const inPieces = again + (begun?.said ?? 0)
    sum.said += alone + others.said + (done ? Math.max(again, done.said) : inPieces)
    sum.sealed += others.sealed + Math.max(begun?.sealed ?? 0, done?.sealed ?? 0)
  }

  private itemOf(event: JsonObject): MemberBytes {
    this.others.addMembers(event, 'item')
    const bytes = new MemberBytes()
    bytes.addMembers(objectOf(event['item']))
    return bytes
  }

  private addOther(event: JsonObject, name: string | undefined): void {
    if (name === undefined) {
      this.others.addMembers(event)
      return
    }
    const { part } = event
    const bytes = new MemberBytes()
    bytes.addMembers(event)
    const type = textOf(objectOf(part)['type'])
    const key = keyOf(part === undefined ? name : (texts.get(type) ?? 'part'), event)
    this.texts.set(key, Math.max(this.texts.get(key) ?? 0, bytes.said))
    this.others.sealed += bytes.sealed
  }

  private addResponse(event: JsonObject): void {
    this.others.addMembers(event, 'response')
    const response = objectOf(event['response'])
    for (const name in response) {
      if (!echoed.has(name)) this.others.add(name, response[name], response)
    }
  }
}

/** A text is known by its name, and by its place where it is not the first. */
function keyOf(name: string, event: JsonObject): string {
  let key = name
  for (const place of places) if (isLater(event[place])) key += ` ${place}${event[place]}`
  return key
}

const isLater = (place: Json | undefined): boolean => typeof place === 'number' && place > 0

const nameOf = (key: string): string => key.split(' ', 1)[0] ?? ''

const larger = (known: MemberBytes | undefined, other: MemberBytes): MemberBytes =>
  known && known.all > other.all ? known : other
