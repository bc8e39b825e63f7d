/** Gathers answers of OpenAI's Responses API that are handed on as they came. */
import type { Json } from '../../../kernel/canonical.ts'
import type { JsonObject } from '../../../kernel/json-object.ts'
import { objectOf } from '../../../kernel/json-object.ts'
import type { Gathered } from '../gathered.ts'
import { objectsIn, textOf } from '../reading.ts'

/** Members of items that do not count as output. */
const free = new Set([
  'type',
  'id',
  'item_id',
  'call_id',
  'status',
  'role',
  'annotations',
  'logprobs',
  'sequence_number',
  'output_index',
  'content_index',
  'summary_index',
  // It seals what is counted already, or reasoning that is reported.
  'encrypted_content',
])

/** Reads a whole response. */
export function gatherResponse(answer: JsonObject): Gathered {
  const output = objectsIn(answer['output'])
  return {
    choices: output,
    outputBytes: output.reduce((bytes, item) => bytes + bytesOf(item), 0),
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

/** UTF-8 bytes of the texts in a value, and of everything else that is said. */
function bytesOf(value: Json): number {
  if (typeof value === 'string') return Buffer.byteLength(value)
  if (value === null) return 0
  if (typeof value !== 'object') return Buffer.byteLength(String(value))
  if (Array.isArray(value)) return value.reduce<number>((bytes, item) => bytes + bytesOf(item), 0)
  let bytes = 0
  for (const [name, member] of Object.entries(value)) if (!free.has(name)) bytes += bytesOf(member)
  return bytes
}

/** An item as far as it came: as it was done, or the pieces of its texts until then. */
type Item = { item: JsonObject; pieces: Map<string, string>; isDone: boolean; bytes: number }

/** Gathers the events of a stream into the items they make. */
export class ResponseCollector {
  private readonly items = new Map<Json | undefined, Item>()
  private usage: Json | undefined
  private tier: Json | undefined
  private isEnded = false

  add(event: JsonObject): void {
    this.noteUsage(event)
    const type = textOf(event['type'])
    const index = event['output_index']
    if (type === 'response.output_item.added' || type === 'response.output_item.done') {
      const known = this.itemAt(index)
      known.item = objectOf(event['item'])
      known.isDone = type === 'response.output_item.done'
      if (known.isDone) known.bytes = Math.max(known.bytes, bytesOf(known.item))
    } else if (type.endsWith('.delta')) {
      const known = this.itemAt(index)
      const name = type.slice('response.'.length, -'.delta'.length)
      const piece = textOf(event['delta'])
      known.pieces.set(name, (known.pieces.get(name) ?? '') + piece)
      known.bytes += Buffer.byteLength(piece)
    } else if (!repeats.test(type)) {
      // An event that does not exist yet is output as well.
      this.itemAt(index ?? null).bytes += bytesOf(event)
    }
  }

  noteUsage(event: JsonObject): void {
    const { type } = event
    if (type !== 'response.completed' && type !== 'response.incomplete') return
    const { usage, service_tier } = objectOf(event['response'])
    this.usage = usage
    this.tier = service_tier
    this.isEnded = true
  }

  answer(): Gathered {
    const all = [...this.items.values()]
    return {
      choices: all.filter(({ item }) => Object.keys(item).length > 0).map(wholeItem),
      outputBytes: all.reduce((sum, { bytes }) => sum + bytes, 0),
      usage: this.usage,
      isOutdated: !this.isEnded,
      tier: this.tier,
      searches: searchesIn(all.filter(({ isDone }) => isDone).map(({ item }) => item)),
    }
  }

  private itemAt(index: Json | undefined): Item {
    const known = this.items.get(index)
    if (known) return known
    const fresh = { item: {}, pieces: new Map(), isDone: false, bytes: 0 }
    this.items.set(index, fresh)
    return fresh
  }
}

/** Events that repeat what deltas said, or say how far the answer is. */
const repeats =
  /^response\.(created|in_progress|queued|completed|incomplete)$|\.(done|added|in_progress)$/

/** An item that was not done has the texts that came of it, by the names of their events. */
function wholeItem({ item, pieces, isDone }: Item): JsonObject {
  return isDone ? item : { ...item, pieces: Object.fromEntries(pieces) }
}
