/**
 * Writes answers as Anthropic's Messages API does, whole or as its sequence of named events, from
 * the shape of Chat Completions. What a server wants back of its reasoning is the signature of a
 * thinking block.
 */
import type { Json } from '../../../kernel/canonical.ts'
import { isObject, type JsonObject, objectOf } from '../../../kernel/json-object.ts'
import type { Usage } from '../../meter.ts'
import { CallsInTurn } from '../calls-in-turn.ts'
import { objectsIn, textOf } from '../reading.ts'
import { TurnReasoning } from '../turn-reasoning.ts'
import { inputOf } from './chat-to-request.ts'

/** The members that all answers of one run share. */
export type MessageBase = { id: string; model: string }

/** The facts that come with the end: the receipt and the cost, beside the usage. */
export type PaidUsage = { usage: Usage; counterfoil: Json }

/** An answer of one choice. Other choices have no place here. */
export function toMessage(base: MessageBase, choice: JsonObject, paid: PaidUsage): JsonObject {
  const message = objectOf(choice['message'])
  const content: Json[] = []
  const calls = objectsIn(message['tool_calls'])
  const reasoning = new TurnReasoning(base.model)
  const thinking = reasoning.add(message)
  for (const call of calls) reasoning.addCall(textOf(call['id']), call)
  // Without words it is needed by a turn that goes on, and by no other.
  if (thinking !== '' || (reasoning.isSealed && calls.length > 0)) {
    content.push({ type: 'thinking', thinking, signature: reasoning.seal() })
  }
  const { content: text, refusal } = message
  const said = typeof text === 'string' && text !== '' ? text : refusal
  if (typeof said === 'string' && said !== '')
    content.push({ type: 'text', text: said, citations: null })
  for (const call of calls) {
    const { name, arguments: args } = functionOf(call)
    content.push(toolUse(textOf(call['id']), name, inputOf(args)))
  }
  return {
    ...emptyMessage(base),
    content,
    stop_reason: stopReason(choice['finish_reason'], calls.length > 0),
    usage: messageUsage(paid.usage),
    counterfoil: paid.counterfoil,
  }
}

const toolUse = (id: string, name: string, input: Json): JsonObject => ({
  type: 'tool_use',
  id,
  name,
  input,
  caller: { type: 'direct' },
})

const emptyMessage = ({ id, model }: MessageBase): JsonObject => ({
  id,
  type: 'message',
  role: 'assistant',
  model,
  content: [],
  container: null,
  diagnostics: null,
  stop_reason: null,
  stop_sequence: null,
  stop_details: null,
})

/** The usage of a run by the names of this protocol: `input_tokens` leaves out the caches. */
export function messageUsage({ inputTokens, outputTokens, classes = {} }: Usage): JsonObject {
  const { cache_read = 0, cache_write = 0, cache_write_1h = 0, web_search = 0 } = classes
  const { reasoning = 0 } = classes
  const written = cache_write + cache_write_1h
  return {
    input_tokens: inputTokens - cache_read - written,
    cache_creation_input_tokens: written,
    cache_read_input_tokens: cache_read,
    cache_creation: {
      ephemeral_5m_input_tokens: cache_write,
      ephemeral_1h_input_tokens: cache_write_1h,
    },
    output_tokens: outputTokens,
    output_tokens_details: reasoning > 0 ? { thinking_tokens: reasoning } : null,
    server_tool_use:
      web_search > 0 ? { web_search_requests: web_search, web_fetch_requests: 0 } : null,
    service_tier: null,
    inference_geo: null,
    speed: null,
  }
}

const reasons = new Map([
  ['stop', 'end_turn'],
  ['length', 'max_tokens'],
  ['tool_calls', 'tool_use'],
  ['function_call', 'tool_use'],
  ['content_filter', 'refusal'],
])

/** Some model servers finish with `stop` where they called a tool. */
function stopReason(finish: Json | undefined, hasCalls: boolean): string {
  const reason = reasons.get(textOf(finish)) ?? 'end_turn'
  return hasCalls && reason === 'end_turn' ? 'tool_use' : reason
}

/** The block that is open: what it is, and which call of the chunks it belongs to. */
type Open =
  | { index: number; type: 'text' | 'thinking' }
  | { index: number; type: 'tool_use'; call: Json; id: string }

/** Writes the events of one answer. Each piece of text or of a call is a delta of its block. */
export class MessageEvents {
  private open: Open | undefined
  private next = 0
  private hasStarted = false
  private hasCalls = false
  private readonly calls = new CallsInTurn()
  private finish: Json | undefined
  private readonly reasoning: TurnReasoning
  /** Reasoning and text that came between the pieces of a call. */
  private thought = ''
  private said = ''

  constructor(private readonly base: MessageBase) {
    this.reasoning = new TurnReasoning(base.model)
  }

  /** The events of a chunk, in order; '' for one that says nothing. */
  write(chunk: JsonObject): string {
    let events = this.start()
    for (const choice of objectsIn(chunk['choices'])) {
      if ((choice['index'] ?? 0) !== 0) continue
      if (typeof choice['finish_reason'] === 'string') this.finish = choice['finish_reason']
      const delta = objectOf(choice['delta'])
      const { content, refusal } = delta
      this.thought += this.reasoning.add(delta)
      for (const text of [content, refusal]) {
        if (typeof text === 'string') this.said += text
      }
      const speaks = this.said !== '' || this.thought !== ''
      if (speaks && !this.calls.isOpen) events += this.rest() + this.say()
      for (const piece of objectsIn(delta['tool_calls'])) {
        for (const call of this.calls.add(piece)) events += this.call(call)
      }
    }
    return events
  }

  /** The events that end the answer, with what it cost. */
  end({ usage, counterfoil }: PaidUsage): string {
    const rest = this.start() + this.rest() + this.say()
    const { finish, hasCalls } = this
    const delta = {
      ...{ container: null, stop_details: null },
      ...{ stop_reason: stopReason(finish, hasCalls), stop_sequence: null },
    }
    return (
      rest +
      (hasCalls ? this.sealed() : '') +
      this.close() +
      event('message_delta', { delta, usage: messageUsage(usage), counterfoil }) +
      event('message_stop', {})
    )
  }

  private start(): string {
    if (this.hasStarted) return ''
    this.hasStarted = true
    // The model server tells its usage at the end: the last event has all of it.
    const usage = messageUsage({ inputTokens: 0, outputTokens: 0 })
    return event('message_start', { message: { ...emptyMessage(this.base), usage } })
  }

  /** The calls that waited for their turn. */
  private rest(): string {
    let events = ''
    for (const call of this.calls.rest()) events += this.call(call)
    return events
  }

  private think(thinking: string): string {
    let events = ''
    if (this.open?.type !== 'thinking') {
      events += this.close()
      this.open = { index: this.next++, type: 'thinking' }
      events += this.begin({ type: 'thinking', thinking: '', signature: '' })
    }
    return events + this.delta({ type: 'thinking_delta', thinking })
  }

  /** Writes a block without text for all that has to come back and is in none yet. */
  private sealed(): string {
    if (!this.reasoning.isSealed || this.open?.type === 'thinking') return ''
    const events = this.close()
    this.open = { index: this.next++, type: 'thinking' }
    return events + this.begin({ type: 'thinking', thinking: '', signature: '' })
  }

  private say(): string {
    const { said, thought } = this
    this.said = ''
    this.thought = ''
    return (thought === '' ? '' : this.think(thought)) + (said === '' ? '' : this.text(said))
  }

  private text(text: string): string {
    let events = ''
    if (this.open?.type !== 'text') {
      events += this.close()
      this.open = { index: this.next++, type: 'text' }
      events += this.begin({ type: 'text', text: '', citations: null })
    }
    return events + this.delta({ type: 'text_delta', text })
  }

  private call(piece: JsonObject): string {
    const { open } = this
    const call = piece['index'] ?? piece['id'] ?? 0
    const { name, arguments: args } = functionOf(piece)
    let events = ''
    if (open?.type !== 'tool_use' || open.call !== call) {
      const id = textOf(piece['id'])
      this.reasoning.addCall(id, piece)
      events += this.sealed() + this.close()
      this.open = { index: this.next++, type: 'tool_use', call, id }
      this.hasCalls = true
      events += this.begin(toolUse(id, name, {}))
    } else this.reasoning.addCall(open.id, piece)
    return args === ''
      ? events
      : events + this.delta({ type: 'input_json_delta', partial_json: args })
  }

  private begin(block: JsonObject): string {
    return event('content_block_start', { index: this.open?.index ?? 0, content_block: block })
  }

  private delta(delta: JsonObject): string {
    return event('content_block_delta', { index: this.open?.index ?? 0, delta })
  }

  private close(): string {
    const { open } = this
    if (!open) return ''
    // Its signature stands for all that it holds, and so comes last.
    const signature = open.type === 'thinking' ? this.reasoning.seal() : ''
    const signed = signature === '' ? '' : this.delta({ type: 'signature_delta', signature })
    this.open = undefined
    return signed + event('content_block_stop', { index: open.index })
  }
}

/** One event: its name stands in front of the data and in it. */
const event = (type: string, fields: JsonObject): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`

function functionOf(call: JsonObject): { name: string; arguments: string } {
  const { custom } = call
  const of = isObject(custom) ? custom : objectOf(call['function'])
  return { name: textOf(of['name']), arguments: textOf(of['arguments'] ?? of['input']) }
}
