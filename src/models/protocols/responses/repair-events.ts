/** Repairs streams of OpenAI's Responses API: each item is added, goes on and is done in its place. */
import type { Json } from '../../../kernel/canonical.ts'
import { isObject, type JsonObject, objectOf } from '../../../kernel/json-object.ts'
import { finishOf } from '../chat/finish-word.ts'
import { argumentsOf, indexOf } from '../chat/repair-calls.ts'
import { objectsIn, textOf } from '../reading.ts'
import type { EventRepair, NewItemId, Repaired } from '../repaired.ts'
import { emptied, isItem, repairItem, repairPart, saidIn } from './items.ts'
import { OpenItem } from './open-item.ts'
import { isEndType, isResponse, repairResponse } from './whole.ts'

/** Events that add to a text of an item, and the type of an item that has such a text. */
const texts = new Map<string, string>([
  ['output_text', 'message'],
  ['refusal', 'message'],
  ['function_call_arguments', 'function_call'],
  ['custom_tool_call_input', 'custom_tool_call'],
  ['reasoning_summary_text', 'reasoning'],
  ['reasoning_text', 'reasoning'],
])

const indexNames = { reasoning_summary_text: 'summary_index' } as const
const nameOfIndex = (text: string): string =>
  text in indexNames ? indexNames.reasoning_summary_text : 'content_index'

export class ResponseRepair implements EventRepair {
  hasFailed = false
  private response: JsonObject | undefined
  private isEnded = false
  private readonly items: OpenItem[] = []
  private readonly byIndex = new Map<number, OpenItem>()
  private sequence = -1
  /** Whether an event was added, so that the numbers of the server are not those of the stream. */
  private isShifted = false
  private out: Repaired[] = []

  constructor(private readonly newId: NewItemId) {}

  repair(event: JsonObject): JsonObject | Repaired[] {
    this.out = []
    const same = this.take(event)
    const { sequence_number: number } = event
    if (same && this.out.length === 0 && !this.isShifted && typeof number === 'number') {
      this.sequence = number
      return event
    }
    if (same) this.push(event)
    return this.numbered()
  }

  close(isDone: boolean): Repaired[] | undefined {
    if (this.isEnded) return []
    if (!isDone || this.items.length === 0) return undefined
    this.out = []
    this.end({ type: 'response.completed', response: {} })
    return this.numbered()
  }

  /** Takes an event; true for one that passes as it is. */
  private take(event: JsonObject): boolean {
    const type = textOf(event['type'])
    if (isResponse(event)) return this.spread(event)
    if (type === 'response.output_item.added') return this.added(event)
    if (type === 'response.output_item.done') return this.done(event)
    if (isEndType(type)) return this.end(event)
    if (isObject(event['response'])) return this.lifecycle(event)
    const [, text = '', verb] = /^response\.(\w+)\.(delta|done)$/.exec(type) ?? []
    if (texts.has(text)) return this.text(event, text, verb === 'delta')
    if (type.startsWith('response.content_part.')) return this.part(event, type.endsWith('.added'))
    return (
      event['output_index'] === undefined || this.itemOf(event)?.place === event['output_index']
    )
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
    const isNew = !this.items.some(({ id, isOpen }) => isOpen && id === item['id'])
    if (!isNew) return false
    const raw = indexOf(index)
    const place = raw === undefined || this.byIndex.has(raw) ? this.items.length : raw
    const isSaid = saidIn(item).some(({ text }) => text !== '')
    this.open(raw, new OpenItem(this.placeFor(place), item))
    const known = this.items.at(-1)
    if (hasBegun && given === item && index === known?.place && !isSaid) return true
    this.push({ ...event, output_index: known?.place ?? 0, item: isSaid ? emptied(item) : item })
    return false
  }

  /** Adds an item that no event added. */
  private addItem(item: JsonObject, index: Json | undefined): OpenItem {
    const event = { type: 'response.output_item.added', output_index: index ?? null, item }
    if (this.added(event)) this.push(event)
    const added = this.items.at(-1)
    if (!added) throw new Error('no item was added')
    return added
  }

  /** A place that no item has. */
  private placeFor(place: number): number {
    return this.items.some((item) => item.place === place)
      ? Math.max(...this.items.map((item) => item.place)) + 1
      : place
  }

  private open(index: number | undefined, item: OpenItem): OpenItem {
    this.items.push(item)
    this.byIndex.set(index ?? item.place, item)
    return item
  }

  /** The item of an event: by its index, its id, or the one that is open. */
  private itemOf(
    { output_index: index, item_id: id }: JsonObject,
    type?: string,
  ): OpenItem | undefined {
    const fits = (one: OpenItem | undefined) => type === undefined || one?.item['type'] === type
    const raw = indexOf(index)
    const placed = raw === undefined ? undefined : this.byIndex.get(raw)
    if (placed && fits(placed)) return placed
    const named = this.items.find((item) => item.id === id && fits(item))
    if (named || raw !== undefined) return named
    return this.items.findLast((item) => item.isOpen && fits(item))
  }

  private text(event: JsonObject, text: string, isDelta: boolean): boolean {
    const member = isDelta ? 'delta' : text === 'refusal' ? 'refusal' : lastMember(text)
    const value = argumentsOf(event[member])
    const type = texts.get(text)
    const known = this.itemOf(event, type) ?? this.begin(event, type)
    if (!known) return false
    const name = nameOfIndex(text)
    const index = indexOf(event[name]) ?? 0
    if (type === 'message') this.beginPart(known, index, text)
    if (!isDelta && value !== '' && !known.has(text, index))
      this.say(known, { event: text, index, text: value })
    if (isDelta) known.add(text, index, value)
    const isPlaced = event['output_index'] === known.place && event['item_id'] === known.id
    const isIndexed =
      type === 'function_call' || type === 'custom_tool_call' || event[name] === index
    if (isPlaced && isIndexed && event[member] === value) return true
    return this.push({ ...event, ...this.placeOf(known, text, index), [member]: value })
  }

  private placeOf(item: OpenItem, text: string, index: number): JsonObject {
    const isCall = item.item['type'] !== 'message' && item.item['type'] !== 'reasoning'
    const place = { item_id: item.id, output_index: item.place }
    return isCall ? place : { ...place, [nameOfIndex(text)]: index }
  }

  /** Begins an item that an event belongs to and that was not added. A call needs its name. */
  private begin(event: JsonObject, type: string | undefined): OpenItem | undefined {
    const { output_index: raw, item_id: id = null, name } = event
    if (type !== 'message' && type !== 'reasoning' && name === undefined) return undefined
    const item = { id, type: type ?? 'message', ...(name === undefined ? {} : { name }) }
    return this.addItem(item, raw)
  }

  private beginPart(item: OpenItem, index: number, text: string, given?: Json): void {
    if (!item.beginPart(index)) return
    const part = repairPart(given ?? { type: text })
    this.push({
      type: 'response.content_part.added',
      ...this.placeOf(item, text, index),
      part: part['type'] === 'output_text' ? { ...part, text: '' } : part,
    })
  }

  private part(event: JsonObject, isAdded: boolean): boolean {
    const known = this.itemOf(event) ?? this.begin(event, 'message')
    const index = indexOf(event['content_index']) ?? 0
    if (!known) return false
    const part = repairPart(event['part'])
    const isNew = isAdded && known.beginPart(index)
    if (isAdded && !isNew) return false
    const given = objectOf(event['part'])
    const isWhole = given['type'] !== 'output_text' || Array.isArray(given['annotations'])
    const isPlaced = event['output_index'] === known.place && event['item_id'] === known.id
    if (isPlaced && isWhole && event['content_index'] === index && isObject(event['part']))
      return true
    this.push({ ...event, ...this.placeOf(known, 'output_text', index), part })
    return false
  }

  /** Says a text that no piece of came. */
  private say(
    item: OpenItem,
    { event, index, text }: { event: string; index: number; text: string },
  ): void {
    if (item.item['type'] === 'message') this.beginPart(item, index, event)
    item.add(event, index, text)
    const logprobs: JsonObject = event === 'output_text' ? { logprobs: [] } : {}
    this.push({
      type: `response.${event}.delta`,
      ...this.placeOf(item, event, index),
      delta: text,
      ...logprobs,
    })
  }

  private done(event: JsonObject): boolean {
    const { item: given } = event
    const said = isItem(given) ? given : repairItem(given, this.newId, 'completed')
    let known = this.itemOf({ ...event, item_id: said['id'] ?? null })
    // An item that was done before, or another one: this one was not added.
    if (!known?.isOpen || known.item['type'] !== said['type']) {
      known = this.addItem(emptied(said), event['output_index'])
    }
    for (const one of saidIn(said)) {
      if (one.text !== '' && !known.has(one.event, one.index)) this.say(known, one)
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
    const missing = output.filter((item) => !this.items.some(({ id }) => id === item['id']))
    if (output.length > this.items.length || this.items.length === 0) {
      for (const item of missing) this.finish({ item })
    }
    for (const item of this.items.filter(({ isOpen }) => isOpen)) {
      const index = [...this.byIndex].findLast(([, one]) => one === item)?.[0] ?? item.place
      this.finish({ output_index: index, item: item.whole() })
    }
    this.isEnded = true
    const isNamed = told['id'] === this.response?.['id']
    const isWhole = output.length === this.items.length && output.every(isItem)
    if (isNamed && isWhole && typeof told['status'] === 'string') return true
    const ordered = [...this.items].sort((a, b) => a.place - b.place)
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

  private numbered(): Repaired[] {
    if (this.out.length !== 1) this.isShifted = true
    return this.out.map(({ event }) => {
      const { sequence_number: given, ...others } = event
      const isKept = !this.isShifted && typeof given === 'number'
      this.sequence = isKept ? given : this.sequence + 1
      const { type, ...fields } = others
      return { event: { type: type ?? '', sequence_number: this.sequence, ...fields } }
    })
  }
}

const lastMember = (text: string): string =>
  text === 'function_call_arguments'
    ? 'arguments'
    : text === 'custom_tool_call_input'
      ? 'input'
      : 'text'
