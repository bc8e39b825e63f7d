/** Gathers answers of Anthropic's Messages API that are handed on as they came. */
import { hasCanonicalForm, type Json } from '../../../kernel/canonical.ts'
import { isObject, type JsonObject, objectOf } from '../../../kernel/json-object.ts'
import { mergeUsage } from '../../usage-merge.ts'
import type { Gathered } from '../gathered.ts'
import { objectsIn, textOf } from '../reading.ts'

/** A block as far as it came; arguments of a tool come as pieces of JSON. */
type Block = { block: JsonObject; json: string }

/** Names of blocks that do not count as output, like the names of members. */
const free = new Set(['type', 'id', 'tool_use_id', 'signature', 'citations', 'caller'])

/** The parts of a message that a receipt commits to: all that was said, and how it ended. */
const messageOf = (content: Json, from: JsonObject): Json => [
  {
    role: 'assistant',
    content,
    stop_reason: from['stop_reason'] ?? null,
    stop_sequence: from['stop_sequence'] ?? null,
  },
]

/** Reads a whole message. */
export function gatherMessage(answer: JsonObject): Gathered {
  const content = objectsIn(answer['content'])
  const usage = objectOf(answer['usage'])
  return {
    choices: messageOf(content, answer),
    outputBytes: content.reduce((bytes, block) => bytes + bytesOfBlock(block), 0),
    usage: answer['usage'],
    isOutdated: false,
    tier: usage['service_tier'],
    searches: searchesIn(content),
  }
}

/** Searches that found something: one that failed is not billed. */
const searchesIn = (blocks: readonly JsonObject[]): number =>
  blocks.filter(({ type, content }) => type === 'web_search_tool_result' && Array.isArray(content))
    .length

/** UTF-8 bytes of what a block says; a signature seals what is counted already. */
function bytesOfBlock(block: JsonObject): number {
  let bytes = 0
  for (const [name, value] of Object.entries(block)) {
    if (free.has(name) || value === null) continue
    bytes += Buffer.byteLength(typeof value === 'string' ? value : JSON.stringify(value))
  }
  return bytes
}

/** Gathers the events of a stream into the message they make. */
export class MessageCollector {
  private readonly blocks = new Map<Json | undefined, Block>()
  private end: JsonObject = {}
  private usage: Json | undefined
  private outputBytes = 0
  private bytesAtUsage = 0

  add(event: JsonObject): void {
    this.noteUsage(event)
    switch (event['type']) {
      case 'content_block_start': {
        const block = objectOf(event['content_block'])
        this.blocks.set(event['index'], { block: { ...block }, json: '' })
        // The arguments of a tool follow in pieces.
        const { input, ...said } = block
        this.outputBytes += bytesOfBlock(isObject(input) ? said : block)
        return
      }
      case 'content_block_delta':
        this.addDelta(event['index'], objectOf(event['delta']))
        return
      case 'message_delta':
        this.end = { ...this.end, ...objectOf(event['delta']) }
        return
      default:
    }
  }

  noteUsage(event: JsonObject): void {
    const found = event['type'] === 'message_start' ? objectOf(event['message']) : event
    const merged = mergeUsage(this.usage, found['usage'])
    if (merged === this.usage) return
    this.usage = merged
    this.bytesAtUsage = this.outputBytes
  }

  answer(): Gathered {
    const { usage, outputBytes, bytesAtUsage, end } = this
    const content = [...this.blocks.values()].map(wholeBlock)
    return {
      choices: messageOf(content, end),
      outputBytes,
      usage,
      isOutdated: outputBytes > bytesAtUsage,
      tier: objectOf(usage)['service_tier'],
      searches: searchesIn(content),
    }
  }

  private addDelta(index: Json | undefined, delta: JsonObject): void {
    const found = this.blocks.get(index) ?? { block: {}, json: '' }
    this.blocks.set(index, found)
    for (const [name, value] of Object.entries(delta)) {
      if (name === 'type' || value === null) continue
      if (!free.has(name)) {
        this.outputBytes += Buffer.byteLength(
          typeof value === 'string' ? value : JSON.stringify(value),
        )
      }
      if (name === 'partial_json') found.json += textOf(value)
      else addMember(found.block, name === 'citation' ? 'citations' : name, value)
    }
  }
}

/** Texts are joined; of anything else there is a list. */
function addMember(block: JsonObject, name: string, value: Json): void {
  const before = block[name]
  if (typeof value === 'string' && (before === undefined || typeof before === 'string')) {
    block[name] = (before ?? '') + value
  } else block[name] = [...(Array.isArray(before) ? before : []), value]
}

function wholeBlock({ block, json }: Block): JsonObject {
  if (json === '') return block
  try {
    const input: Json = JSON.parse(json)
    if (hasCanonicalForm(input, mostLevels)) return { ...block, input }
  } catch {
    // Cut off, or not JSON: as it came.
  }
  return { ...block, input: json.toWellFormed() }
}

/** Deeper arguments of a tool stay the text that they are. */
const mostLevels = 64
