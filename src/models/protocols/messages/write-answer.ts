/**
 * Writes answers as Anthropic's Messages API does, whole or as its sequence of named events, from
 * the shape of Chat Completions. Unsigned reasoning is left out: this protocol has no place for it.
 */
import type { Json } from '../../../kernel/canonical.ts'
import { isObject, type JsonObject, objectOf } from '../../../kernel/json-object.ts'
import type { Usage } from '../../meter.ts'
import { CallsInTurn } from '../calls-in-turn.ts'
import { objectsIn, textOf } from '../reading.ts'
import { inputOf } from './write-request.ts'

/** What all answers of one run share. */
export type MessageBase = { id: string; model: string }

/** What is told with the end: the receipt and the cost, beside the usage. */
export type Paid = { usage: Usage; counterfoil: Json }

/** An answer of one choice. Other choices have no place here. */
export function toMessage(base: MessageBase, choice: JsonObject, paid: Paid): JsonObject {
  const message = objectOf(choice['message'])
  const content: Json[] = []
  const { content: text, refusal } = message
  const said = typeof text === 'string' && text !== '' ? text : refusal
  if (typeof said === 'string' && said !== '')
    content.push({ type: 'text', text: said, citations: null })
  const calls = objectsIn(message['tool_calls'])
  for (const call of calls) {
    const { name, arguments: args } = functionOf(call)
    content.push({ type: 'tool_use', id: textOf(call['id']), name, input: inputOf(args) })
  }
  return {
    ...emptyMessage(base),
    content,
    stop_reason: stopReason(choice['finish_reason'], calls.length > 0),
    usage: messageUsage(paid.usage),
    counterfoil: paid.counterfoil,
  }
}

const emptyMessage = ({ id, model }: MessageBase): JsonObject => ({
  id,
  type: 'message',
  role: 'assistant',
  model,
  content: [],
  stop_reason: null,
  stop_sequence: null,
})

/** The usage of a run by the names of this protocol: `input_tokens` leaves out the caches. */
export function messageUsage({ inputTokens, outputTokens, classes = {} }: Usage): JsonObject {
  const { cache_read = 0, cache_write = 0, cache_write_1h = 0, web_search = 0 } = classes
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
    server_tool_use: web_search > 0 ? { web_search_requests: web_search } : null,
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
type Open = { index: number; type: 'text' } | { index: number; type: 'tool_use'; call: Json }

/** Writes the events of one answer. Each piece of text or of a call is a delta of its block. */
export class MessageEvents {
  private open: Open | undefined
  private next = 0
  private hasStarted = false
  private hasCalls = false
  private readonly calls = new CallsInTurn()
  private finish: Json | undefined
  /** Text that came between the pieces of a call. */
  private said = ''

  constructor(private readonly base: MessageBase) {}

  /** The events of a chunk, in order; '' for one that says nothing. */
  write(chunk: JsonObject): string {
    let events = this.start()
    for (const choice of objectsIn(chunk['choices'])) {
      if ((choice['index'] ?? 0) !== 0) continue
      if (typeof choice['finish_reason'] === 'string') this.finish = choice['finish_reason']
      const delta = objectOf(choice['delta'])
      const { content, refusal } = delta
      for (const text of [content, refusal]) {
        if (typeof text === 'string') this.said += text
      }
      if (this.said !== '' && !this.calls.isOpen) events += this.rest() + this.say()
      for (const piece of objectsIn(delta['tool_calls'])) {
        for (const call of this.calls.add(piece)) events += this.call(call)
      }
    }
    return events
  }

  /** The events that end the answer, with what it cost. */
  end({ usage, counterfoil }: Paid): string {
    const rest = this.start() + this.rest() + this.say()
    const { finish, hasCalls } = this
    const delta = { stop_reason: stopReason(finish, hasCalls), stop_sequence: null }
    return (
      rest +
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

  /** What waited for its turn. */
  private rest(): string {
    let events = ''
    for (const call of this.calls.rest()) events += this.call(call)
    return events
  }

  private say(): string {
    const { said } = this
    this.said = ''
    return said === '' ? '' : this.text(said)
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
      events += this.close()
      this.open = { index: this.next++, type: 'tool_use', call }
      this.hasCalls = true
      events += this.begin({ type: 'tool_use', id: textOf(piece['id']), name, input: {} })
    }
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
    this.open = undefined
    return open ? event('content_block_stop', { index: open.index }) : ''
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
