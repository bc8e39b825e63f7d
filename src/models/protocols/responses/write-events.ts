/** Writes answers as the named and numbered events of OpenAI's Responses API. */
import type { Json } from '../../../kernel/canonical.ts'
import type { JsonObject } from '../../../kernel/json-object.ts'
import { objectOf } from '../../../kernel/json-object.ts'
import { CallsInTurn } from '../calls-in-turn.ts'
import { objectsIn, textOf } from '../reading.ts'
import { TurnReasoning } from '../turn-reasoning.ts'
import {
  finished,
  type Item,
  ItemList,
  messageItem,
  type PaidUsage,
  partOf,
  type ResponseBase,
  readCall,
  reasoningItem,
  toResponse,
} from './chat-to-answer.ts'

/** Writes the events of one answer, each with its number. */
export class ResponseEvents {
  private readonly items: ItemList
  private sequence = 0
  private hasStarted = false
  private finish: Json | undefined
  /** The text of the item that is open. */
  private said = ''
  private readonly calls = new CallsInTurn()
  private readonly reasoning: TurnReasoning
  /** Deltas that came between the pieces of a call. */
  private readonly waiting: JsonObject[] = []

  constructor(private readonly base: ResponseBase) {
    this.items = new ItemList(base)
    this.reasoning = new TurnReasoning(base.model)
  }

  /** The events of a chunk, in order; '' for one that says nothing. */
  write(chunk: JsonObject): string {
    let events = this.start()
    for (const choice of objectsIn(chunk['choices'])) {
      if ((choice['index'] ?? 0) !== 0) continue
      if (typeof choice['finish_reason'] === 'string') this.finish = choice['finish_reason']
      const delta = objectOf(choice['delta'])
      // Text waits while the pieces of a call come.
      if (this.calls.isOpen) this.waiting.push(delta)
      else events += this.waited() + this.speak(delta)
      for (const piece of objectsIn(delta['tool_calls'])) {
        for (const call of this.calls.add(piece)) events += this.call(call)
      }
    }
    return events
  }

  /** The events that end the answer, with what it cost. */
  end(paid: PaidUsage): string {
    const open = this.start() + this.rest() + this.waited()
    const events = open + this.sealed() + this.close()
    const response = finished(this.base, this.items.done(), this.finish, paid)
    return events + this.event(`response.${textOf(response['status'])}`, { response })
  }

  /** The event of an answer that broke off; nothing follows it. */
  fail(error: { code: string; message: string }): string {
    const start = this.start()
    const response = toResponse(this.base, 'failed', this.items.done(), { error })
    return start + this.event('response.failed', { response })
  }

  private speak(delta: JsonObject): string {
    return (
      this.reason(this.reasoning.add(delta)) +
      this.say(textOf(delta['content']), 'output_text') +
      this.say(textOf(delta['refusal']), 'refusal')
    )
  }

  private waited(): string {
    return this.waiting
      .splice(0)
      .map((delta) => this.speak(delta))
      .join('')
  }

  private start(): string {
    if (this.hasStarted) return ''
    this.hasStarted = true
    const response = toResponse(this.base, 'in_progress', [])
    return (
      this.event('response.created', { response }) +
      this.event('response.in_progress', { response })
    )
  }

  /** The calls that waited for their turn. */
  private rest(): string {
    let events = ''
    for (const call of this.calls.rest()) events += this.call(call)
    return events
  }

  private reason(text: string): string {
    if (text === '') return ''
    let events = this.rest()
    if (this.open?.kind !== 'reasoning') {
      events += this.beginReasoning()
      const part = { type: 'summary_text', text: '' }
      events += this.of('response.reasoning_summary_part.added', { summary_index: 0, part })
    }
    this.said += text
    const delta = { summary_index: 0, delta: text }
    return events + this.of('response.reasoning_summary_text.delta', delta)
  }

  private say(text: string, type: 'output_text' | 'refusal'): string {
    if (text === '') return ''
    let events = this.rest()
    if (this.open?.kind !== 'message' || this.open.key !== type) {
      events += this.sealed() + this.close()
      events += this.begin('message', messageItem(this.items.nextId('msg'), []), type)
      events += this.of('response.content_part.added', { content_index: 0, part: partOf(type, '') })
    }
    this.said += text
    const logprobs: JsonObject = type === 'output_text' ? { logprobs: [] } : {}
    return (
      events + this.of(`response.${type}.delta`, { content_index: 0, delta: text, ...logprobs })
    )
  }

  private call(piece: JsonObject): string {
    const key = piece['index'] ?? piece['id'] ?? 0
    const call = readCall(piece)
    let events = ''
    if (this.open?.kind !== 'call' || this.open.key !== key) {
      const id = textOf(piece['id'])
      this.reasoning.addCall(id, piece)
      events += this.sealed() + this.close()
      events += this.begin('call', this.items.callItem(id, { ...call, text: '' }), key)
    } else this.reasoning.addCall(textOf(this.open.value['call_id']), piece)
    if (call.text === '') return events
    this.said += call.text
    return events + this.of(`${this.callEvents()}.delta`, { delta: call.text })
  }

  private callEvents(): string {
    const isCustom = this.open?.value['type'] === 'custom_tool_call'
    return isCustom ? 'response.custom_tool_call_input' : 'response.function_call_arguments'
  }

  private beginReasoning(): string {
    return this.begin('reasoning', reasoningItem(this.items.nextId('rs'), ''), null)
  }

  /** Writes an item without text for all that has to come back and is in none yet. */
  private sealed(): string {
    if (!this.reasoning.isSealed || this.open?.kind === 'reasoning') return ''
    return this.close() + this.beginReasoning()
  }

  /** Only the last item can be open. */
  private open: Item | undefined

  private begin(kind: Item['kind'], value: JsonObject, key: Json): string {
    const events = this.close()
    this.open = this.items.begin(kind, value, key)
    return (
      events +
      this.event('response.output_item.added', {
        output_index: this.items.size - 1,
        item: { ...value },
      })
    )
  }

  private close(): string {
    const { open, said } = this
    if (!open) return ''
    const { kind, value, key } = open
    let events = ''
    if (kind === 'reasoning') {
      value['encrypted_content'] = this.reasoning.seal()
      if (said !== '') {
        const part = { type: 'summary_text', text: said }
        value['summary'] = [part]
        events += this.of('response.reasoning_summary_text.done', { summary_index: 0, text: said })
        events += this.of('response.reasoning_summary_part.done', { summary_index: 0, part })
      }
    } else if (kind === 'message') {
      const type = key === 'refusal' ? 'refusal' : 'output_text'
      const part = partOf(type, said)
      value['content'] = [part]
      const text: JsonObject = type === 'refusal' ? { refusal: said } : { text: said, logprobs: [] }
      events += this.of(`response.${type}.done`, { content_index: 0, ...text })
      events += this.of('response.content_part.done', { content_index: 0, part })
    } else {
      const member = value['type'] === 'custom_tool_call' ? 'input' : 'arguments'
      value[member] = said
      events += this.of(`${this.callEvents()}.done`, { [member]: said })
    }
    if ('status' in value) value['status'] = 'completed'
    const done = { output_index: this.items.size - 1, item: { ...value } }
    this.open = undefined
    this.said = ''
    return events + this.event('response.output_item.done', done)
  }

  /** An event of the item that is open. */
  private of(type: string, fields: JsonObject): string {
    const item_id = this.open?.value['id'] ?? null
    return this.event(type, { item_id, output_index: this.items.size - 1, ...fields })
  }

  /** One event: its name stands in front of the data and in it. */
  private event(type: string, fields: JsonObject): string {
    const data = { type, sequence_number: this.sequence++, ...fields }
    return `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`
  }
}
