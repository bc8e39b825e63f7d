/** Gathers answers of Anthropic's Messages API that are handed on as they came. */
import { hasCanonicalForm, type Json } from '../../../kernel/canonical.ts'
import { isObject, type JsonObject, objectOf } from '../../../kernel/json-object.ts'
import { isEmpty } from '../../free-members.ts'
import { mergeUsage } from '../../usage-merge.ts'
import type { GatheredAnswer } from '../gathered-answer.ts'
import { bytesOfAll, MemberBytes } from '../member-bytes.ts'
import { objectsIn, textOf } from '../reading.ts'

/** A block as far as it came; arguments of a tool come as pieces of JSON. */
type Block = {
  block: JsonObject
  json: string
  /** The members that became lists here. */
  lists: Map<string, Json[]> | undefined
  /** Bytes of arguments that came whole, until their pieces come. */
  wholeInput: number
}

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
export function gatherMessage(answer: JsonObject): GatheredAnswer {
  const content = objectsIn(answer['content'])
  const usage = objectOf(answer['usage'])
  const { said, sealed } = bytesOfAll(content)
  return {
    choices: messageOf(content, answer),
    outputBytes: said,
    sealedBytes: sealed,
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

/** Gathers the events of a stream into the message they make. */
export class MessageCollector {
  private readonly blocks = new Map<Json | undefined, Block>()
  private end: JsonObject = {}
  private usage: Json | undefined
  private readonly bytes = new MemberBytes()
  private bytesAtUsage = 0
  /** Bytes that had been said when the client left. */
  private heard: number | undefined

  add(event: JsonObject): void {
    this.noteUsage(event)
    const { type } = event
    if (type === 'content_block_delta') this.addDelta(event['index'], objectOf(event['delta']))
    else if (type === 'content_block_start') this.begin(event)
    else if (type === 'message_delta') this.end = { ...this.end, ...objectOf(event['delta']) }
    // All of it, known or not: an event that does not exist yet is output as well.
    this.bytes.addMembers(event)
  }

  drop(event: JsonObject): void {
    this.noteUsage(event)
    this.bytes.addMembers(event)
  }

  leave(): void {
    this.heard = this.bytes.said
  }

  noteUsage(event: JsonObject): void {
    const found = event['type'] === 'message_start' ? objectOf(event['message']) : event
    const merged = mergeUsage(this.usage, found['usage'])
    if (merged === this.usage) return
    this.usage = merged
    this.bytesAtUsage = this.bytes.all
  }

  answer(): GatheredAnswer {
    const { usage, bytes, bytesAtUsage, end } = this
    const outputBytes = this.heard ?? bytes.said
    const content = [...this.blocks.values()].map(wholeBlock)
    return {
      choices: messageOf(content, end),
      outputBytes,
      sealedBytes: bytes.sealed,
      droppedBytes: bytes.said - outputBytes,
      usage,
      isOutdated: bytes.all > bytesAtUsage,
      tier: objectOf(usage)['service_tier'],
      searches: searchesIn(content),
    }
  }

  private begin(event: JsonObject): void {
    const block = objectOf(event['content_block'])
    const { input } = block
    const isWhole = isObject(input) && !isEmpty(input)
    const wholeInput = isWhole ? Buffer.byteLength(JSON.stringify(input)) : 0
    const begun: Block = { block: { ...block }, json: '', lists: undefined, wholeInput }
    this.blocks.set(event['index'], begun)
  }

  private addDelta(index: Json | undefined, delta: JsonObject): void {
    const empty: Block = { block: {}, json: '', lists: undefined, wholeInput: 0 }
    const found = this.blocks.get(index) ?? empty
    this.blocks.set(index, found)
    for (const name in delta) {
      const value = delta[name]
      if (name === 'type' || value === null || value === undefined) continue
      if (name === 'partial_json') this.addJson(found, textOf(value))
      else addMember(found, name === 'citation' ? 'citations' : name, value)
    }
  }

  /** Adds a piece of arguments; pieces say what came whole before them once more. */
  private addJson(block: Block, piece: string): void {
    block.json += piece
    if (piece === '') return
    this.bytes.said -= block.wholeInput
    block.wholeInput = 0
  }
}

/** Texts are joined; of anything else there is a list. */
function addMember(to: Block, name: string, value: Json): void {
  const { block } = to
  const before = block[name]
  if (typeof value === 'string' && (before === undefined || typeof before === 'string')) {
    block[name] = (before ?? '') + value
    return
  }
  to.lists ??= new Map()
  // A copy at first: the list of an event is not ours.
  const list = to.lists.get(name) ?? (Array.isArray(before) ? [...before] : [])
  list.push(value)
  to.lists.set(name, list)
  block[name] = list
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
