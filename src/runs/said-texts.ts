/** Compares what the events of a Responses stream say more than once. */
import type { JsonObject } from '../kernel/json-object.ts'
import { objectOf } from '../kernel/json-object.ts'
import { objectsIn, textOf } from '../models/protocols/reading.ts'

/** A text of an item: the name of its events, its place in the item, and itself. */
type PlacedText = { name: string; at: number; text: string }

/** Texts by the names of their events. */
const textMembers = ['text', 'refusal', 'arguments', 'input'] as const

/**
 * The texts of one stream. Each comes as deltas, again when it is done, again in its item and again
 * in the whole response: a receipt commits to one of these, so all have to be the same.
 */
export class SaidTexts {
  private readonly byPlace = new Map<string, string>()

  /** Takes an event in order; false if it says another text than those before it. */
  agree(event: JsonObject): boolean {
    const type = textOf(event['type'])
    const name = /^response\.(.+)\.(delta|done)$/.exec(type)
    if (type === 'response.output_item.done') {
      return this.agreeItem(String(event['output_index']), objectOf(event['item']))
    }
    if (type === 'response.completed' || type === 'response.incomplete') {
      const items = objectsIn(objectOf(event['response'])['output'])
      return items.every((item, at) => this.agreeItem(String(at), item))
    }
    if (!name) return true
    const [, what = '', step] = name
    const at = event['content_index'] ?? event['summary_index'] ?? 0
    const place = `${event['output_index']}/${at}/${what}`
    if (step === 'delta') {
      this.byPlace.set(place, (this.byPlace.get(place) ?? '') + textOf(event['delta']))
      return true
    }
    if (what.endsWith('_part')) {
      const part = objectOf(event['part'])
      const [said] = partSaid(part, Number(at))
      return !said || this.agreeText(String(event['output_index']), said)
    }
    const member = textMembers.find((one) => typeof event[one] === 'string')
    return member === undefined || this.agreeAt(place, textOf(event[member]))
  }

  private agreeItem(index: string, item: JsonObject): boolean {
    const texts = saidIn(item)
    const named = new Set(texts.map(({ name, at }) => `${index}/${at}/${name}`))
    // A text that came, and that the item does not have, was said to its client all the same.
    const isLost = [...this.byPlace].some(
      ([place, text]) =>
        place.startsWith(`${index}/`) && isOfItem(place) && text !== '' && !named.has(place),
    )
    return !isLost && texts.every((said) => this.agreeText(index, said))
  }

  private agreeText(index: string, { name, at, text }: PlacedText): boolean {
    return this.agreeAt(`${index}/${at}/${name}`, text)
  }

  private agreeAt(place: string, text: string): boolean {
    const known = this.byPlace.get(place)
    if (known === undefined) this.byPlace.set(place, text)
    return known === undefined || known === text
  }
}

const itemNames = new Set([
  'output_text',
  'refusal',
  'function_call_arguments',
  'custom_tool_call_input',
  'reasoning_summary_text',
  'reasoning_text',
])

const isOfItem = (place: string): boolean => itemNames.has(place.split('/')[2] ?? '')

function saidIn(item: JsonObject): PlacedText[] {
  if (typeof item['arguments'] === 'string') {
    return [{ name: 'function_call_arguments', at: 0, text: item['arguments'] }]
  }
  if (typeof item['input'] === 'string') {
    return [{ name: 'custom_tool_call_input', at: 0, text: item['input'] }]
  }
  return [...objectsIn(item['content']), ...objectsIn(item['summary'])].flatMap((part) => {
    const siblings = objectsIn(item[part['type'] === 'summary_text' ? 'summary' : 'content'])
    return partSaid(part, siblings.indexOf(part))
  })
}

const partNames = new Map([
  ['output_text', 'output_text'],
  ['refusal', 'refusal'],
  ['summary_text', 'reasoning_summary_text'],
  ['reasoning_text', 'reasoning_text'],
])

function partSaid(part: JsonObject, at: number): PlacedText[] {
  const name = partNames.get(textOf(part['type']))
  if (name === undefined) return []
  return [{ name, at, text: textOf(part['text'] ?? part['refusal']) }]
}
