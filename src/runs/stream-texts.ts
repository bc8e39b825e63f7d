/** Compares what the events of a Responses stream say more than once. */
import { type JsonObject, objectOf } from '../kernel/json-object.ts'
import { objectsIn, textOf } from '../models/protocols/reading.ts'

/** A text of an item: the name of its events, its place in the item, and itself. */
type PlacedText = { name: string; at: number; text: string }

/** Texts by the names of their events. */
const textMembers = ['text', 'refusal', 'arguments', 'input'] as const

/**
 * The texts of one stream. Each comes as deltas, again when it is done, again in its item and again
 * in the whole response: a receipt commits to one of these, so all have to be the same.
 */
export class StreamTexts {
  /** Texts by the number of their item, then by their place in it and their name. */
  private readonly byItem = new Map<string, Map<string, string>>()

  /** Takes an event in order; false if it says another text than those before it. */
  agree(event: JsonObject): boolean {
    const type = textOf(event['type'])
    const index = String(event['output_index'])
    if (type === 'response.output_item.done') return this.agreeItem(index, objectOf(event['item']))
    if (type === 'response.completed' || type === 'response.incomplete') {
      const items = objectsIn(objectOf(event['response'])['output'])
      return items.every((item, at) => this.agreeItem(String(at), item))
    }
    const [, name, step] = /^response\.(.+)\.(delta|done)$/.exec(type) ?? []
    if (name === undefined) return true
    const at = event['content_index'] ?? event['summary_index'] ?? 0
    const place = `${at}/${name}`
    if (step === 'delta') {
      const texts = this.textsOf(index)
      texts.set(place, (texts.get(place) ?? '') + textOf(event['delta']))
      return true
    }
    if (name.endsWith('_part')) {
      const [said] = partSaid(objectOf(event['part']), Number(at))
      return !said || this.agreeAt(index, placeOf(said), said.text)
    }
    const member = textMembers.find((one) => typeof event[one] === 'string')
    return member === undefined || this.agreeAt(index, place, textOf(event[member]))
  }

  private agreeItem(index: string, item: JsonObject): boolean {
    const texts = saidIn(item)
    const named = new Set(texts.map(placeOf))
    // A text that came, and that the item does not have, was said to its client all the same.
    for (const [place, text] of this.textsOf(index)) {
      if (text !== '' && isOfItem(place) && !named.has(place)) return false
    }
    return texts.every((said) => this.agreeAt(index, placeOf(said), said.text))
  }

  private agreeAt(index: string, place: string, text: string): boolean {
    const texts = this.textsOf(index)
    const known = texts.get(place)
    if (known === undefined) texts.set(place, text)
    return known === undefined || known === text
  }

  private textsOf(index: string): Map<string, string> {
    const texts = this.byItem.get(index) ?? new Map<string, string>()
    this.byItem.set(index, texts)
    return texts
  }
}

const placeOf = ({ name, at }: PlacedText): string => `${at}/${name}`

const itemNames = new Set([
  'output_text',
  'refusal',
  'function_call_arguments',
  'custom_tool_call_input',
  'reasoning_summary_text',
  'reasoning_text',
])

const isOfItem = (place: string): boolean => itemNames.has(place.split('/')[1] ?? '')

function saidIn(item: JsonObject): PlacedText[] {
  if (typeof item['arguments'] === 'string') {
    return [{ name: 'function_call_arguments', at: 0, text: item['arguments'] }]
  }
  if (typeof item['input'] === 'string') {
    return [{ name: 'custom_tool_call_input', at: 0, text: item['input'] }]
  }
  return [
    ...objectsIn(item['content']).flatMap((part, at) => partSaid(part, isSummary(part) ? -1 : at)),
    ...objectsIn(item['summary']).flatMap((part, at) => partSaid(part, isSummary(part) ? at : -1)),
  ]
}

/** Whether a part belongs into a summary; one that stands elsewhere has no place. */
const isSummary = ({ type }: JsonObject): boolean => type === 'summary_text'

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
