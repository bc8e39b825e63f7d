/** Repairs streams of Anthropic's Messages: each block begins, goes on and ends under its index. */
import type { Json } from '../../../kernel/canonical.ts'
import { isObject, type JsonObject, objectOf } from '../../../kernel/json-object.ts'
import { isEmpty } from '../../free-members.ts'
import { finishOf } from '../chat/finish-word.ts'
import { indexOf } from '../chat/repair-calls.ts'
import type { EventRepair, NewItemId, RepairedEvent } from '../repaired.ts'
import { blockOf, isBlock, isDelta, repairBlock, repairDelta } from './blocks.ts'
import { eventsOfMessage } from './whole.ts'

/** A block as far as it came; `input` is one that came whole, before its pieces. */
type Block = { place: number; isOpen: boolean; isTool: boolean; input: string | undefined }

/** Usage that no server told: clients need the member. */
const noUsage = { input_tokens: 0, output_tokens: 0 }

export class MessageRepair implements EventRepair {
  hasFailed = false
  private hasStarted = false
  private hasReason = false
  private hasCalls = false
  /** The blocks by the index that their server gives them: the last one of an index counts. */
  private readonly blocks = new Map<number, Block>()
  private readonly all: Block[] = []

  constructor(private readonly newId: NewItemId) {}

  repair(event: JsonObject): JsonObject | RepairedEvent[] {
    const { type } = event
    if (type === 'content_block_delta') {
      const block = this.blockAt(event['index'])
      const isInOrder = block?.place === event['index'] && block?.input === undefined
      return isInOrder && isDelta(event['delta']) ? event : this.addDelta(event)
    }
    if (type === 'content_block_start') return this.begin(event)
    if (type === 'content_block_stop') return this.stop(event)
    if (type === 'message_start') return this.start(event)
    if (type === 'message_delta') return this.end(event)
    if (type === 'message_stop') {
      return this.hasReason ? event : this.stopped()
    }
    const isWhole = type === 'message' || (type === undefined && event['content'] !== undefined)
    return isWhole ? this.each(eventsOfMessage(event, this.newId)) : event
  }

  close(isDone: boolean): RepairedEvent[] | undefined {
    if (!this.hasStarted || !(this.hasReason || isDone)) return undefined
    const events = this.stops()
    if (!this.hasReason) {
      if (this.all.length === 0) return undefined
      const stop_reason = this.hasCalls ? 'tool_use' : 'end_turn'
      const event = { type: 'message_delta', delta: { stop_reason, stop_sequence: null } }
      events.push({ event, shown: { ...event, usage: { output_tokens: 0 } } })
      this.hasReason = true
    }
    return [...events, { event: { type: 'message_stop' } }]
  }

  /** A message that stops before it said anything is none. */
  private stopped(): RepairedEvent[] {
    const events = this.close(true)
    this.hasFailed = events === undefined
    return events ?? []
  }

  private each(events: readonly JsonObject[]): RepairedEvent[] {
    return events.flatMap((event) => {
      const repaired = this.repair(event)
      return Array.isArray(repaired) ? repaired : [{ event: repaired }]
    })
  }

  private start(event: JsonObject): JsonObject | RepairedEvent[] {
    if (this.hasStarted) return []
    this.hasStarted = true
    const { message } = event
    const { usage, content, id } = objectOf(message)
    if (isObject(message) && isObject(usage) && Array.isArray(content) && typeof id === 'string') {
      if (content.length === 0) return event
    }
    return [this.opening(objectOf(message))]
  }

  private opening(message: JsonObject): RepairedEvent {
    const { usage, ...others } = message
    const told: JsonObject = isObject(usage) ? { usage } : {}
    const whole = {
      id: this.newId('msg'),
      model: '',
      stop_reason: null,
      stop_sequence: null,
      ...others,
      type: 'message',
      role: 'assistant',
      content: [],
    }
    const event = { type: 'message_start', message: { ...whole, ...told } }
    return {
      event,
      shown: { ...event, message: { ...whole, usage: { ...noUsage, ...objectOf(usage) } } },
    }
  }

  /** The events that have to come before a block. */
  private before(): RepairedEvent[] {
    if (this.hasStarted) return []
    this.hasStarted = true
    return [this.opening({})]
  }

  private begin(event: JsonObject): JsonObject | RepairedEvent[] {
    const { index, content_block: given } = event
    const events = this.before()
    const isInOrder = isBlock(given) && index === this.all.length && events.length === 0
    const block = isBlock(given) ? given : repairBlock(given, this.newId)
    const isTool = block['type'] === 'tool_use'
    const input = isTool && !isEmpty(block['input']) ? JSON.stringify(block['input']) : undefined
    const { place } = this.add(indexOf(index), isTool, input)
    if (isInOrder && input === undefined) return event
    const content_block = input === undefined ? block : { ...block, input: {} }
    return [...events, { event: { ...event, index: place, content_block } }]
  }

  private add(index: number | undefined, isTool: boolean, input?: string): Block {
    const block = { place: this.all.length, isOpen: true, isTool, input }
    this.all.push(block)
    this.blocks.set(index ?? block.place, block)
    this.hasCalls ||= isTool
    return block
  }

  private blockAt(index: Json | undefined): Block | undefined {
    const given = typeof index === 'number' ? index : indexOf(index)
    return given === undefined ? this.all.findLast(({ isOpen }) => isOpen) : this.blocks.get(given)
  }

  private addDelta(event: JsonObject): RepairedEvent[] {
    const delta = repairDelta(event['delta'])
    if (!delta) return []
    const known = this.blockAt(event['index'])
    // The pieces say the same as what came whole.
    if (known && delta['type'] === 'input_json_delta' && delta['partial_json'] !== '') {
      known.input = undefined
    }
    if (known) return [{ event: { ...event, index: known.place, delta } }]
    const content_block = blockOf(delta)
    if (!content_block) return []
    const events = this.before()
    const { place } = this.add(indexOf(event['index']), false)
    const begin = { type: 'content_block_start', index: place, content_block }
    return [...events, { event: begin }, { event: { ...event, index: place, delta } }]
  }

  private stop(event: JsonObject): JsonObject | RepairedEvent[] {
    const block = this.blockAt(event['index'])
    if (!block?.isOpen) return []
    if (block.place === event['index'] && block.input === undefined) {
      block.isOpen = false
      return event
    }
    return stopOf(block)
  }

  private stops(): RepairedEvent[] {
    return this.all.filter(({ isOpen }) => isOpen).flatMap(stopOf)
  }

  private end(event: JsonObject): JsonObject | RepairedEvent[] {
    const { delta, usage } = event
    const { stop_reason: told } = objectOf(delta)
    const reason = this.reasonOf(told)
    if (this.hasFailed) return []
    const events = [...this.before(), ...this.stops()]
    if (reason !== null) this.hasReason = true
    const isInOrder = isObject(delta) && isObject(usage) && reason === told
    if (isInOrder && events.length === 0) return event
    const whole = { stop_sequence: null, ...objectOf(delta), stop_reason: reason }
    const { usage: _, ...others } = event
    const one = { ...others, ...(isObject(usage) ? { usage } : {}), delta: whole }
    const shown = { ...one, usage: isObject(usage) ? usage : { output_tokens: 0 } }
    return [...events, { event: one, shown }]
  }

  /** An empty reason is none. One that is not known passes: the protocol gets new ones. */
  private reasonOf(told: Json | undefined): Json {
    const { word } = finishOf(told)
    if (word === 'error') this.hasFailed = true
    if (word === null || typeof told !== 'string') return null
    return told === 'end_turn' && this.hasCalls ? 'tool_use' : told
  }
}

function stopOf(block: Block): RepairedEvent[] {
  const { place: index, input } = block
  block.isOpen = false
  block.input = undefined
  const delta = { type: 'input_json_delta', partial_json: input ?? '' }
  const said = { event: { type: 'content_block_delta', index, delta } }
  const stop = { event: { type: 'content_block_stop', index } }
  return input === undefined ? [stop] : [said, stop]
}
