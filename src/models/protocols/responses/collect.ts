/** Gathers answers of OpenAI's Responses API that are handed on as they came. */
import type { Json } from '../../../kernel/canonical.ts'
import type { JsonObject } from '../../../kernel/json-object.ts'
import { objectOf } from '../../../kernel/json-object.ts'
import type { GatheredAnswer } from '../gathered-answer.ts'
import { bytesOfAll, MemberBytes } from '../member-bytes.ts'
import { objectsIn, textOf } from '../reading.ts'
import { ItemBytes } from './item-bytes.ts'

/** Reads a whole response. */
export function gatherResponse(answer: JsonObject): GatheredAnswer {
  const output = objectsIn(answer['output'])
  const { said, sealed } = bytesOfAll(output)
  return {
    choices: output,
    outputBytes: said,
    sealedBytes: sealed,
    usage: answer['usage'],
    isOutdated: false,
    tier: answer['service_tier'],
    searches: searchesIn(output),
  }
}

/** Searches that were made; pages that were opened or looked through are none. */
const searchesIn = (items: readonly JsonObject[]): number =>
  items.filter(({ type, status, action }) => {
    const made = objectOf(action)['type'] ?? 'search'
    return type === 'web_search_call' && status === 'completed' && made === 'search'
  }).length

/** An item as far as it came: as it was done, or the pieces of its texts until then. */
type Item = { item: JsonObject; pieces: Map<string, string>; isDone: boolean }

/** Gathers the events of a stream into the items they make. */
export class ResponseCollector {
  private readonly items = new Map<Json | undefined, Item>()
  private readonly bytes = new Map<Json | undefined, ItemBytes>()
  private usage: Json | undefined
  private tier: Json | undefined
  private isEnded = false
  /** Bytes that had been said when the client left. */
  private heard: MemberBytes | undefined

  add(event: JsonObject): void {
    this.drop(event)
    const type = textOf(event['type'])
    const index = event['output_index']
    if (type === 'response.output_item.added' || type === 'response.output_item.done') {
      const known = this.itemAt(index)
      known.item = objectOf(event['item'])
      known.isDone = type === 'response.output_item.done'
    } else if (type.endsWith('.delta')) {
      const { pieces } = this.itemAt(index)
      const name = type.slice('response.'.length, -'.delta'.length)
      pieces.set(name, (pieces.get(name) ?? '') + textOf(event['delta']))
    }
  }

  drop(event: JsonObject): void {
    this.noteUsage(event)
    const { response } = event
    this.bytesAt(event['output_index']).add(event)
    if (response === undefined) return
    const { output } = objectOf(response)
    objectsIn(output).forEach((item, at) => void this.bytesAt(at).addWhole(item))
  }

  leave(): void {
    this.heard = this.sum()
  }

  noteUsage(event: JsonObject): void {
    const { type } = event
    if (type !== 'response.completed' && type !== 'response.incomplete') return
    const { usage, service_tier } = objectOf(event['response'])
    this.usage = usage
    this.tier = service_tier
    this.isEnded = true
  }

  answer(): GatheredAnswer {
    const all = [...this.items.values()]
    const { said, sealed } = this.sum()
    const outputBytes = this.heard?.said ?? said
    return {
      choices: all.filter(({ item }) => Object.keys(item).length > 0).map(wholeItem),
      outputBytes,
      sealedBytes: sealed,
      droppedBytes: said - outputBytes,
      usage: this.usage,
      isOutdated: !this.isEnded,
      tier: this.tier,
      searches: searchesIn(all.filter(({ isDone }) => isDone).map(({ item }) => item)),
    }
  }

  private sum(): MemberBytes {
    const sum = new MemberBytes()
    for (const one of this.bytes.values()) one.addTo(sum)
    return sum
  }

  private bytesAt(index: Json | undefined): ItemBytes {
    const known = this.bytes.get(index)
    if (known) return known
    const fresh = new ItemBytes()
    this.bytes.set(index, fresh)
    return fresh
  }

  private itemAt(index: Json | undefined): Item {
    const known = this.items.get(index)
    if (known) return known
    const fresh = { item: {}, pieces: new Map(), isDone: false }
    this.items.set(index, fresh)
    return fresh
  }
}

/** An item that was not done has the texts that came of it, by the names of their events. */
function wholeItem({ item, pieces, isDone }: Item): JsonObject {
  return isDone ? item : { ...item, pieces: Object.fromEntries(pieces) }
}
