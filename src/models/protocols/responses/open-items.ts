/** The items of a streamed response, as far as they came. */
import type { Json } from '../../../kernel/canonical.ts'
import type { JsonObject } from '../../../kernel/json-object.ts'
import { indexOf } from '../chat/repair-calls.ts'
import { emptied } from './items.ts'

export class OpenItem {
  isOpen = true
  /** The item when it was done. */
  done: JsonObject | undefined
  /** Each of its texts as far as it came, by the event that adds to it and its place. */
  private readonly texts = new Map<string, { value: string }>()
  private readonly parts = new Set<string>()

  constructor(
    readonly place: number,
    /** The item as it began. */
    readonly item: JsonObject,
  ) {}

  get id(): Json {
    return this.item['id'] ?? null
  }

  /** Adds to a text, and returns it. */
  add(event: string, index: number, piece: string): { value: string } {
    const key = `${event} ${index}`
    const text = this.texts.get(key) ?? { value: '' }
    text.value += piece
    this.texts.set(key, text)
    return text
  }

  has(event: string, index: number): boolean {
    return this.texts.has(`${event} ${index}`)
  }

  /** Begins a part of the content or of the summary; false for one that is open. */
  beginPart(name: string, index: number): boolean {
    const key = `${name} ${index}`
    if (this.parts.has(key)) return false
    this.parts.add(key)
    return true
  }

  /** The item as its pieces make it. */
  whole(): JsonObject {
    if (this.done) return this.done
    const item = emptied(this.item)
    const content: Json[] = []
    const summary: Json[] = []
    for (const [key, { value: text }] of this.texts) {
      const [event = '', at = '0'] = key.split(' ')
      if (event === 'function_call_arguments') item['arguments'] = text
      else if (event === 'custom_tool_call_input') item['input'] = text
      else if (event === 'reasoning_summary_text') {
        summary[Number(at)] = { type: 'summary_text', text }
      } else if (event === 'reasoning_text') content[Number(at)] = { type: event, text }
      else if (event === 'refusal') content[Number(at)] = { type: event, refusal: text }
      else content[Number(at)] = { type: 'output_text', text, annotations: [], logprobs: [] }
    }
    if (content.length > 0) item['content'] = content.filter((part) => part !== undefined)
    if (summary.length > 0) item['summary'] = summary.filter((part) => part !== undefined)
    if (item['status'] !== undefined) item['status'] = 'completed'
    return item
  }
}

export class OpenItems {
  readonly all: OpenItem[] = []
  /** The items by the index that their server gives them: the last one of an index counts. */
  private readonly byIndex = new Map<number, OpenItem>()

  /** Adds an item at its index, or at the next place where that is missing or taken. */
  add(index: number | undefined, item: JsonObject): OpenItem {
    const wanted = index === undefined || this.byIndex.has(index) ? this.all.length : index
    const places = this.all.map(({ place }) => place)
    const place = places.includes(wanted) ? Math.max(...places) + 1 : wanted
    const added = new OpenItem(place, item)
    this.all.push(added)
    this.byIndex.set(index ?? place, added)
    return added
  }

  /** The item of an event: by its index, its id, or the one that is open. */
  find({ output_index: index, item_id: id }: JsonObject, type?: string): OpenItem | undefined {
    const fits = (one: OpenItem): boolean => type === undefined || one.item['type'] === type
    const raw = typeof index === 'number' ? index : indexOf(index)
    const placed = raw === undefined ? undefined : this.byIndex.get(raw)
    if (placed && fits(placed)) return placed
    const named = this.all.find((item) => item.id === id && fits(item))
    if (named || raw !== undefined) return named
    return this.all.findLast((item) => item.isOpen && fits(item))
  }

  /** The item that a final one is: by its id, or by its place where that has no id. */
  final(item: JsonObject, at: number, output: readonly JsonObject[]): OpenItem | undefined {
    const named = this.all.find(({ id }) => id === item['id'])
    const placed = this.all[at]
    if (named || placed?.item['type'] !== item['type']) return named
    return output.some(({ id }) => id === placed?.id) ? undefined : placed
  }

  /** An index that no item has. */
  get next(): number {
    return Math.max(-1, ...this.byIndex.keys(), ...this.all.map(({ place }) => place)) + 1
  }

  /** The index by which an item is found. */
  indexOf(item: OpenItem): number {
    return [...this.byIndex].findLast(([, one]) => one === item)?.[0] ?? item.place
  }
}
