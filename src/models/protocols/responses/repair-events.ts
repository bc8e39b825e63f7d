/** Repairs streams of OpenAI's Responses API: each item is added, goes on and is done. */
import type { Json } from '../../../kernel/canonical.ts'
import { isObject, type JsonObject, objectOf } from '../../../kernel/json-object.ts'
import { finishOf } from '../chat/finish-word.ts'
import { argumentsOf, indexOf } from '../chat/repair-calls.ts'
import { objectsIn, textOf } from '../reading.ts'
import type { EventRepair, NewItemId, RepairedEvent } from '../repaired.ts'
import { EventNumbers } from './event-numbers.ts'
import {
  emptied,
  isItem,
  type PartEvent,
  type PlacedText,
  partEvents,
  partOf,
  repairItem,
  repairPart,
  saidIn,
  type TextEvent,
  textEvents,
} from './items.ts'
import { type OpenItem, OpenItems } from './open-items.ts'
import { isEndType, isResponse, repairResponse } from './whole.ts'

export class ResponseRepair implements EventRepair {
  hasFailed = false
  private response: JsonObject | undefined
  private isEnded = false
  private readonly items = new OpenItems()
  private readonly numbers = new EventNumbers()
  private out: RepairedEvent[] = []
  /** The text that the last piece was added to. */
  private last:
    | { of: TextEvent; item: OpenItem; index: number; text: { value: string } }
    | undefined

  constructor(private readonly newId: NewItemId) {}

  repair(event: JsonObject): JsonObject | RepairedEvent[] {
    if (this.out.length > 0) this.out = []
    const same = this.take(event)
    if (same && this.out.length === 0 && this.numbers.passes(event)) return event
    if (same) this.push(event)
    return this.numbers.write(this.out)
  }

  close(isDone: boolean): RepairedEvent[] | undefined {
    if (this.isEnded) return []
    if (!isDone || this.items.all.length === 0) return undefined
    this.out = []
    this.end({ type: 'response.completed', response: {} })
    return this.numbers.write(this.out)
  }

  /** Takes an event; true for one that passes as it is. */
  private take(event: JsonObject): boolean {
    const type = textOf(event['type'])
    const text = textEvents.get(type)
    if (text) return this.isNext(event, text) || this.text(event, text)
    if (isResponse(event)) return this.spread(event)
    // An object without a type is none of the protocol's events.
    if (type === '') return false
    if (type === 'response.output_item.added') return this.added(event)
    if (type === 'response.output_item.done') return this.done(event)
    if (isEndType(type)) return this.end(event)
    if (isObject(event['response'])) return this.lifecycle(event)
    const part = partEvents.get(type)
    if (part) return this.part(event, part)
    return event['output_index'] === undefined || this.other(event, type)
  }

  private lifecycle(event: JsonObject): boolean {
    const told = objectOf(event['response'])
    const known = this.response
    if (!known) {
      this.response = { ...told, id: told['id'] ?? this.newId('resp') }
      if (typeof told['id'] === 'string' && Array.isArray(told['output'])) {
        return event['type'] === 'response.created' || this.opened(event)
      }
    } else if (told['id'] === known['id'] && Array.isArray(told['output'])) return true
    const response = {
      ...told,
      id: this.response?.['id'] ?? null,
      object: 'response',
      output: told['output'] ?? [],
    }
    this.push({ ...event, type: known ? (event['type'] ?? null) : 'response.created', response })
    return false
  }

  /** A stream begins with `response.created`. */
  private opened(event: JsonObject): boolean {
    this.push({ type: 'response.created', response: objectOf(event['response']) })
    return true
  }

  private before(told: JsonObject = {}): void {
    if (this.response) return
    const base = {
      object: 'response',
      status: 'in_progress',
      error: null,
      incomplete_details: null,
    }
    const { output: _, usage: __, ...others } = told
    this.response = { id: this.newId('resp'), ...others, ...base, output: [] }
    this.push({ type: 'response.created', response: this.response })
  }

  private added(event: JsonObject): boolean {
    const { item: given, output_index: index } = event
    const hasBegun = this.response !== undefined
    this.before()
    const item = isItem(given) ? given : repairItem(given, this.newId, 'in_progress')
    if (this.items.isOpen(item['id'])) return false
    const isSaid = saidIn(item).some(({ value }) => value !== '')
    const { place } = this.items.add(indexOf(index), item)
    if (hasBegun && given === item && index === place && !isSaid) return true
    this.push({ ...event, output_index: place, item: isSaid ? emptied(item) : item })
    return false
  }

  /** Adds an item that no event added. */
  private addItem(item: JsonObject, index: Json | undefined): OpenItem {
    const event = { type: 'response.output_item.added', output_index: index ?? null, item }
    if (this.added(event)) this.push(event)
    const added = this.items.all.at(-1)
    if (!added) throw new Error('no item was added')
    return added
  }

  /** Adds a piece that goes on where the one before it ended. */
  private isNext(event: JsonObject, of: TextEvent): boolean {
    const { last } = this
    const { delta } = event
    if (last?.of !== of || !of.isDelta || typeof delta !== 'string') return false
    if (event['output_index'] !== last.item.place || event['item_id'] !== last.item.id) return false
    if (of.index !== undefined && event[of.index] !== last.index) return false
    last.text.value += delta
    return true
  }

  private text(event: JsonObject, of: TextEvent): boolean {
    const { text, type, index: name, member, isDelta } = of
    const value = argumentsOf(event[member])
    const known = this.items.find(event, type) ?? this.begin(event, type)
    if (!known) return false
    const index = (name === undefined ? undefined : indexOf(event[name])) ?? 0
    if (name !== undefined) this.beginPart(known, index, text)
    if (isDelta) this.last = { of, item: known, index, text: known.add(text, index, value) }
    else if (value !== '' && !known.has(text, index)) this.say(known, { text, index, value })
    const isPlaced = event['output_index'] === known.place && event['item_id'] === known.id
    const isIndexed = name === undefined || event[name] === index
    if (isPlaced && isIndexed && event[member] === value) return true
    return this.push({ ...event, ...this.placeOf(known, index, name), [member]: value })
  }

  private placeOf(item: OpenItem, index: number, name: string | undefined): JsonObject {
    const place = { item_id: item.id, output_index: item.place }
    return name === undefined ? place : { ...place, [name]: index }
  }

  /** Takes an event of an item that is none of the above: of a call that the server makes. */
  private other(event: JsonObject, type: string): boolean {
    const { output_index: raw, item_id: id = null } = event
    const [, kind] = /^response\.(\w+_call)\./.exec(type) ?? []
    const known = this.items.find(event) ?? (kind && this.addItem({ id, type: kind }, raw))
    if (!known || known.place === raw) return true
    return this.push({ ...event, output_index: known.place, item_id: known.id })
  }

  /** Begins an item that an event belongs to and that was not added. A call needs its name. */
  private begin(event: JsonObject, type: string | undefined): OpenItem | undefined {
    const { output_index: raw, item_id: id = null, name } = event
    if (type !== 'message' && type !== 'reasoning' && name === undefined) return undefined
    const item = { id, type: type ?? 'message', ...(name === undefined ? {} : { name }) }
    return this.addItem(item, raw)
  }

  private beginPart(item: OpenItem, index: number, text: string): void {
    const { event, name, type = text } = partOf(text)
    if (!item.beginPart(name, index)) return
    const part = repairPart({ type })
    this.push({ type: `${event}.added`, ...this.placeOf(item, index, name), part })
  }

  private part(event: JsonObject, { name, isAdded }: PartEvent): boolean {
    const type = name === 'summary_index' ? 'reasoning' : undefined
    const known = this.items.find(event, type) ?? this.begin(event, type ?? 'message')
    const index = indexOf(event[name]) ?? 0
    if (!known || (isAdded && !known.beginPart(name, index))) return false
    const given = objectOf(event['part'])
    const isWhole = given['type'] !== 'output_text' || Array.isArray(given['annotations'])
    const isPlaced = event['output_index'] === known.place && event['item_id'] === known.id
    if (isPlaced && isWhole && event[name] === index && isObject(event['part'])) return true
    return this.push({ ...event, ...this.placeOf(known, index, name), part: repairPart(given) })
  }

  /** Says a text whose pieces did not come. */
  private say(item: OpenItem, { text, index, value }: PlacedText): void {
    const type = `response.${text}.delta`
    if (textEvents.get(type)?.index !== undefined) this.beginPart(item, index, text)
    item.add(text, index, value)
    const logprobs: JsonObject = text === 'output_text' ? { logprobs: [] } : {}
    const place = this.placeOf(item, index, textEvents.get(type)?.index)
    this.push({ type, ...place, delta: value, ...logprobs })
  }

  private done(event: JsonObject): boolean {
    const { item: given } = event
    const said = isItem(given) ? given : repairItem(given, this.newId, 'completed')
    let known = this.items.find({ ...event, item_id: said['id'] ?? null })
    const isSame = known?.item['type'] === said['type']
    // It was done before.
    if (known && !known.isOpen && isSame && (said['id'] === known.id || said !== given))
      return false
    if (!known?.isOpen || !isSame) {
      known = this.addItem(emptied(said), event['output_index'])
    }
    for (const one of saidIn(said)) {
      if (one.value !== '' && !known.has(one.text, one.index)) this.say(known, one)
    }
    known.isOpen = false
    const names = {
      id: known.id,
      ...('call_id' in known.item ? { call_id: known.item['call_id'] ?? '' } : {}),
    }
    const isNamed = said['id'] === known.id && said['call_id'] === known.item['call_id']
    known.done = isNamed ? said : { ...said, ...names }
    if (isNamed && said === given && event['output_index'] === known.place) return true
    this.push({ ...event, output_index: known.place, item: known.done })
    return false
  }

  private end(event: JsonObject): boolean {
    const told = objectOf(event['response'])
    this.before(told)
    const output = objectsIn(told['output'])
    const ids = new Set(output.map(({ id }) => id))
    const { all } = this.items
    for (const [at, item] of output.entries()) {
      const known = this.items.final(item, at, ids)
      if (!known) this.finish({ output_index: this.items.next, item })
      else if (known.isOpen) this.finish({ output_index: this.items.indexOf(known), item })
    }
    for (const item of all.filter(({ isOpen }) => isOpen)) {
      this.finish({ output_index: this.items.indexOf(item), item: item.whole() })
    }
    this.isEnded = true
    const isNamed = told['id'] === this.response?.['id']
    const hasAll = output.length === all.length && all.every(({ id }) => ids.has(id))
    const isWhole = hasAll && output.every(isItem)
    if (isNamed && isWhole && event['type'] === `response.${told['status']}`) return true
    const ordered = [...all].sort((a, b) => a.place - b.place)
    const type =
      event['type'] === 'response.incomplete' ? 'response.incomplete' : 'response.completed'
    const items = isWhole ? output : ordered.map((item) => item.whole())
    const status = type.slice('response.'.length)
    const whole = {
      ...this.response,
      ...told,
      id: this.response?.['id'] ?? null,
      object: 'response',
      output: items,
    }
    if (finishOf(told['status']).word === 'error') this.hasFailed = true
    this.push({ ...event, type, response: { ...whole, status } })
    return false
  }

  /** Ends an item that no event ended. */
  private finish(fields: JsonObject): void {
    const event = { type: 'response.output_item.done', ...fields }
    if (this.done(event)) this.push(event)
  }

  /** A whole answer in the place of a stream. */
  private spread(answer: JsonObject): boolean {
    const whole = repairResponse(answer, this.newId)
    if (!whole || 'failure' in whole) {
      this.hasFailed = true
      return false
    }
    const type = `response.${textOf(whole['status'])}`
    if (this.end({ type, response: whole })) this.push({ type, response: whole })
    return false
  }

  private push(event: JsonObject): false {
    this.out.push({ event })
    return false
  }
}
