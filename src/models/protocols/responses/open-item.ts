/** An item of a streamed response, as far as it came. */
import type { Json } from '../../../kernel/canonical.ts'
import type { JsonObject } from '../../../kernel/json-object.ts'
import { emptied } from './items.ts'

export class OpenItem {
  isOpen = true
  /** The item when it was done. */
  done: JsonObject | undefined
  /** What came of each of its texts, by the event that adds to it and its place. */
  private readonly texts = new Map<string, string>()
  private readonly parts = new Set<number>()

  constructor(
    readonly place: number,
    /** As it began. */
    readonly item: JsonObject,
  ) {}

  get id(): Json {
    return this.item['id'] ?? null
  }

  add(event: string, index: number, text: string): void {
    const key = `${event} ${index}`
    this.texts.set(key, (this.texts.get(key) ?? '') + text)
  }

  has(event: string, index: number): boolean {
    return this.texts.has(`${event} ${index}`)
  }

  /** Begins a part of a message; false for one that is open. */
  beginPart(index: number): boolean {
    if (this.parts.has(index)) return false
    this.parts.add(index)
    return true
  }

  /** The item as its pieces make it. */
  whole(): JsonObject {
    if (this.done) return this.done
    const item = emptied(this.item)
    const content: Json[] = []
    const summary: Json[] = []
    for (const [key, text] of this.texts) {
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
