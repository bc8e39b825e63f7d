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
    // Their places are the server's numbers: a list with holes would be as long as the largest.
    const content = new Map<number, Json>()
    const summary = new Map<number, Json>()
    for (const [key, { value: text }] of this.texts) {
      const [event = '', at = '0'] = key.split(' ')
      if (event === 'function_call_arguments') item['arguments'] = text
      else if (event === 'custom_tool_call_input') item['input'] = text
      else if (event === 'reasoning_summary_text') {
        summary.set(Number(at), { type: 'summary_text', text })
      } else if (event === 'reasoning_text') content.set(Number(at), { type: event, text })
      else if (event === 'refusal') content.set(Number(at), { type: event, refusal: text })
      else content.set(Number(at), { type: 'output_text', text, annotations: [], logprobs: [] })
    }
    if (content.size > 0) item['content'] = inOrder(content)
    if (summary.size > 0) item['summary'] = inOrder(summary)
    if (item['status'] !== undefined) item['status'] = 'completed'
    return item
  }
}

const inOrder = (parts: ReadonlyMap<number, Json>): Json[] =>
  [...parts].sort(([a], [b]) => a - b).map(([, part]) => part)

export class OpenItems {
  readonly all: OpenItem[] = []
  /** The items by the index that their server gives them: the last one of an index counts. */
  private readonly byIndex = new Map<number, OpenItem>()
  private readonly indices = new Map<OpenItem, number>()
  private readonly places = new Set<number>()
  /** The highest index and place so far. */
  private top = -1
  private topPlace = -1
  /** The first item of each id, and of each id and type. */
  private readonly byId = new Map<Json | undefined, OpenItem>()
  private readonly byTypeAndId = new Map<string, OpenItem>()
  /** The last item of each id. */
  private readonly lastById = new Map<Json | undefined, OpenItem>()
  /** The items of each type, and of all, in order; those at the end that were done are removed. */
  private readonly unfinished = new Map<Json | undefined, OpenItem[]>()

  /** Adds an item at its index, or at the next place where that is missing or taken. */
  add(index: number | undefined, item: JsonObject): OpenItem {
    const wanted = index === undefined || this.byIndex.has(index) ? this.all.length : index
    const place = this.places.has(wanted) ? this.topPlace + 1 : wanted
    const added = new OpenItem(place, item)
    this.all.push(added)
    this.byIndex.set(index ?? place, added)
    this.indices.set(added, index ?? place)
    this.places.add(place)
    this.topPlace = Math.max(this.topPlace, place)
    this.top = Math.max(this.top, place, index ?? place)
    this.name(added)
    return added
  }

  private name(added: OpenItem): void {
    const { id, item } = added
    const { type } = item
    const key = `${type} ${id}`
    if (!this.byId.has(id)) this.byId.set(id, added)
    if (!this.byTypeAndId.has(key)) this.byTypeAndId.set(key, added)
    this.lastById.set(id, added)
    for (const kind of [undefined, type]) {
      const open = this.unfinished.get(kind)
      if (open) open.push(added)
      else this.unfinished.set(kind, [added])
    }
  }

  /** Whether an item of this id is open: a second one is not added before it is done. */
  isOpen(id: Json | undefined): boolean {
    return this.lastById.get(id)?.isOpen === true
  }

  /** The item of an event: by its index, its id, or the one that is open. */
  find({ output_index: index, item_id: id }: JsonObject, type?: string): OpenItem | undefined {
    const raw = typeof index === 'number' ? index : indexOf(index)
    const placed = raw === undefined ? undefined : this.byIndex.get(raw)
    if (placed && (type === undefined || placed.item['type'] === type)) return placed
    const named = this.named(id, type)
    if (named || raw !== undefined) return named
    const open = this.unfinished.get(type)
    while (open?.at(-1)?.isOpen === false) open.pop()
    return open?.at(-1)
  }

  private named(id: Json | undefined, type: string | undefined): OpenItem | undefined {
    if (type === undefined) return this.byId.get(id)
    return typeof id === 'string' ? this.byTypeAndId.get(`${type} ${id}`) : undefined
  }

  /**
   * The item that a final one is: by its id, or by its place where that has no id. `ids`: those of
   * all final ones.
   */
  final(item: JsonObject, at: number, ids: ReadonlySet<Json | undefined>): OpenItem | undefined {
    const named = this.byId.get(item['id'])
    const placed = this.all[at]
    if (named || placed?.item['type'] !== item['type']) return named
    return ids.has(placed?.id) ? undefined : placed
  }

  /** An index that no item has. */
  get next(): number {
    return this.top + 1
  }

  /** The index by which an item is found. */
  indexOf(item: OpenItem): number {
    const index = this.indices.get(item)
    return index !== undefined && this.byIndex.get(index) === item ? index : item.place
  }
}
