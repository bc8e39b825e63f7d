/** Reads answers of model servers, whole or in chunks, into the form that receipts commit to. */
import type { Json } from '../kernel/canonical.ts'
import { isObject, type JsonObject, objectOf } from '../kernel/json-object.ts'
import { inParts, isEmpty, reasoningNames, sealedBytesIn } from '../models/free-members.ts'
import type { TextFrames } from '../models/text-frames.ts'
import { mergeUsage } from '../models/usage-merge.ts'
import {
  addContent,
  addToolCalls,
  bytesOfName,
  type Choice,
  integer,
  keepRecent,
  type PartialChoice,
  Pieces,
  toChoice,
} from './partial-choice.ts'

/** An answer in its non-streaming form, with its counts. */
export type Answer = {
  choices: Choice[]
  /** UTF-8 bytes of all that was said: text, reasoning, calls of tools, unknown members. */
  outputBytes: number
  /** UTF-8 bytes of what is sealed: output that only its server can read. */
  sealedBytes?: number | undefined
  /** Bytes that were said after its client had left, and are kept nowhere. */
  droppedBytes?: number | undefined
  /** The usage the upstream reported, unchecked. */
  usage: Json | undefined
  /** Whether more output came after that report. */
  isOutdated: boolean
  /** The tier of service it names, unchecked. */
  tier: Json | undefined
  /** The searches that the model server made by itself, as far as they came. */
  searches?: number | undefined
}

/** An answer of which nothing came. */
export const nothingCame: Answer = {
  choices: [],
  outputBytes: 0,
  usage: undefined,
  isOutdated: false,
  tier: undefined,
}

/** Reads a whole `chat.completion`. */
export function readAnswer(body: JsonObject): Answer {
  const collector = new Collector('message')
  for (const choice of objects(body['choices'])) collector.addChoice(choice)
  collector.noteUsage(body)
  return collector.answer()
}

/** The most short texts to gather: each keeps the whole read alive that it came in. */
const mostRecent = 16

/** The usual names of what is said: they are not counted. */
const spoken = new Set(['content', 'refusal', ...reasoningNames])

/** Gathers the chunks of a stream into the answer they make. */
export class Collector {
  private readonly choices = new Map<number, PartialChoice>()
  private outputBytes = 0
  private sealedBytes = 0
  private droppedBytes = 0
  private usage: Json | undefined
  private bytesAtUsage = 0
  private tier: Json | undefined

  /** @param messageName the member of a choice that holds what it says */
  constructor(private readonly messageName: 'delta' | 'message' = 'delta') {}

  addChoice(from: JsonObject): void {
    const gathered = this.gatheredAt(from)
    keepRecent(gathered)
    const { sealedBytes: before } = gathered
    let bytes = 0
    for (const name in from) {
      const value = from[name]
      if (value === undefined || value === null) continue
      if (name === this.messageName && isObject(value)) bytes += addMessage(gathered, value)
      else bytes += addBeside(gathered, name, value)
    }
    this.outputBytes += bytes
    this.sealedBytes += gathered.sealedBytes - before
  }

  addChunk(chunk: JsonObject): void {
    this.addHeldBack(chunk)
    this.noteUsage(chunk)
  }

  /** Adds what a chunk says whose usage was noted before. */
  addHeldBack(chunk: JsonObject): void {
    for (const choice of objects(chunk['choices'])) this.addChoice(choice)
  }

  /** Reads what a chunk reports, without what it says. */
  noteUsage({ usage, service_tier: tier }: JsonObject): void {
    if (tier) this.tier = tier
    if (!usage) return
    const merged = mergeUsage(this.usage, usage)
    if (merged === this.usage) return
    this.usage = merged
    this.bytesAtUsage = this.allBytes
  }

  /** Counts a chunk that is not delivered, without keeping it. */
  drop(chunk: JsonObject): void {
    const { outputBytes, sealedBytes = 0 } = readChunk(chunk)
    this.droppedBytes += outputBytes
    this.sealedBytes += sealedBytes
    this.noteUsage(chunk)
  }

  dropTexts({ texts }: TextFrames): void {
    for (const text of texts) this.droppedBytes += Buffer.byteLength(text)
  }

  addTexts({ kind, texts }: TextFrames): void {
    const gathered = this.gatheredAt(kind.choice)
    const text = texts.length === 1 ? (texts[0] ?? '') : texts.join('')
    gathered.recent += text
    gathered.recentCount++
    if (gathered.recentCount >= mostRecent) keepRecent(gathered)
    this.outputBytes += Buffer.byteLength(text)
  }

  hasOutput(): boolean {
    return this.outputBytes > 0
  }

  answer(): Answer {
    const { outputBytes, sealedBytes, droppedBytes, usage, tier } = this
    const all = [...this.choices.values()].sort((a, b) => a.index - b.index)
    const isOutdated = this.allBytes > this.bytesAtUsage
    const choices = all.map(toChoice)
    return { choices, outputBytes, sealedBytes, droppedBytes, usage, isOutdated, tier }
  }

  private get allBytes(): number {
    return this.outputBytes + this.sealedBytes + this.droppedBytes
  }

  private gatheredAt(from: JsonObject): PartialChoice {
    const index = integer(from['index'])
    const known = this.choices.get(index)
    if (known) return known
    const fresh: PartialChoice = {
      index,
      content: null,
      finishReason: null,
      calls: undefined,
      said: undefined,
      beside: undefined,
      functionCall: undefined,
      logprobs: undefined,
      sealedBytes: 0,
      recent: '',
      recentCount: 0,
    }
    this.choices.set(index, fresh)
    return fresh
  }
}

function readChunk(chunk: JsonObject): Answer {
  const collector = new Collector()
  collector.addHeldBack(chunk)
  return collector.answer()
}

/** Adds what a message says; returns its bytes. */
function addMessage(gathered: PartialChoice, message: JsonObject): number {
  let bytes = 0
  let reasoned = 0
  for (const name in message) {
    const value = message[name]
    if (value === undefined || value === null) continue
    if (typeof value === 'string') {
      if (name === 'content') {
        addContent(gathered, value)
        bytes += Buffer.byteLength(value)
        continue
      }
      if (name === 'role') {
        bytes += bytesOfName(value)
        continue
      }
    }
    if (name === 'tool_calls' && isListOfObjects(value)) {
      gathered.calls ??= new Map()
      bytes += addToolCalls(gathered.calls, value)
      continue
    }
    if (name === 'function_call' && isObject(value)) {
      gathered.functionCall ??= new Pieces()
      bytes += gathered.functionCall.addEach(value)
      continue
    }
    if (isEmpty(value)) continue
    gathered.said ??= new Pieces()
    const { said } = gathered
    if (name === 'content' && gathered.content) {
      said.add(name, gathered.content)
      gathered.content = null
    }
    const isLater = name === 'reasoning_details' && message['reasoning_content'] === undefined
    const repeated = isLater ? repeatedIn(said, value) : 0
    const named = addNamed(said, name, value) - repeated
    if (inParts.has(name)) gathered.sealedBytes += sealedBytesIn(value)
    if (reasoningNames.has(name)) reasoned = Math.max(reasoned, named)
    else bytes += named
  }
  return bytes + reasoned
}

/** Bytes of signed texts that came before under the name of their pieces. */
function repeatedIn(said: Pieces, details: Json): number {
  let bytes = 0
  for (const { text, signature } of objects(details)) {
    if (typeof text !== 'string' || text === '' || typeof signature !== 'string') continue
    if (said.endsWith('reasoning_content', text)) bytes += Buffer.byteLength(text)
  }
  return bytes
}

/** Adds what stands beside the message; returns its bytes. */
function addBeside(gathered: PartialChoice, name: string, value: Json): number {
  if (name === 'index' && typeof value === 'number') return 0
  if (name === 'finish_reason' && typeof value === 'string') {
    gathered.finishReason = value
    return bytesOfName(value)
  }
  if (name === 'logprobs' && isObject(value)) {
    gathered.logprobs ??= new Pieces()
    gathered.logprobs.addEach(value)
    // They repeat the text, which is counted, for a client that asked for them.
    return 0
  }
  if (isEmpty(value)) return 0
  gathered.beside ??= new Pieces()
  // `message` is the name of what was said in pieces.
  return addNamed(gathered.beside, name === 'message' ? 'delta' : name, value)
}

/** A name that is not one of ours is output as well. */
function addNamed(pieces: Pieces, name: string, value: Json): number {
  const isNew = !spoken.has(name) && !pieces.has(name)
  return (isNew ? Buffer.byteLength(name) : 0) + pieces.add(name, value)
}

const isListOfObjects = (value: Json): value is JsonObject[] =>
  Array.isArray(value) && value.every(isObject)

/** Returns the list itself if all its items are objects: do not mutate it. */
export function objects(value: Json | undefined): JsonObject[] {
  if (!Array.isArray(value)) return []
  return value.every(isObject) ? value : value.map(objectOf)
}
