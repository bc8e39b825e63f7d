/** Reads answers of model servers, whole or in chunks, into the form that receipts commit to. */
import type { Json } from '../kernel/canonical.ts'
import type { TextFrames } from '../models/text-frames.ts'
import type { JsonObject } from '../models/upstream/upstream.ts'

/** A choice in the form that receipts commit to, the same for streams and whole answers. */
export type Choice = {
  index: number
  message: { role: 'assistant'; content: string | null; tool_calls?: ToolCall[] }
  finish_reason: string | null
}
type ToolCall = {
  id: string
  type: string
  function?: { name: string; arguments: string }
  custom?: { name: string; input: string }
}

/** An answer in its non-streaming form, with its counts. */
export type Answer = {
  choices: Choice[]
  /** UTF-8 bytes of text, reasoning and tool calls. */
  outputBytes: number
  /** Pieces with output; one per choice in a whole answer. */
  deltas: number
  /** The usage the upstream reported, unchecked. */
  usage: Json | undefined
  /** The tier of service it names, unchecked. */
  tier: Json | undefined
}

/** Reads a whole `chat.completion`. */
export function readAnswer(body: JsonObject): Answer {
  const collector = new Collector()
  for (const choice of objects(body['choices'])) {
    collector.addPiece(choice, asObject(choice['message']))
  }
  return { ...collector.answer(), usage: body['usage'], tier: body['service_tier'] }
}

/** A choice as far as it came. */
type Gathered = {
  choice: Choice
  calls: Map<number, ToolCall>
  /** The end of the content, so many short texts. */
  recent: string
  recentCount: number
}

/** The most short texts to gather: each keeps the whole read alive that it came in. */
const mostRecent = 16

/** Gathers the chunks of a stream into the answer they make. */
export class Collector {
  private readonly choices = new Map<number, Gathered>()
  private outputBytes = 0
  private deltas = 0
  private usage: Json | undefined
  private tier: Json | undefined

  addPiece(from: JsonObject, said: JsonObject): void {
    const { choice, calls } = this.choiceAt(from)
    let bytes = 0
    if (typeof said['content'] === 'string') {
      choice.message.content = (choice.message.content ?? '') + said['content']
      bytes += Buffer.byteLength(said['content'])
    }
    for (const field of ['reasoning_content', 'reasoning', 'refusal'] as const) {
      const text = said[field]
      if (typeof text === 'string') bytes += Buffer.byteLength(text)
    }
    if (said['tool_calls']) bytes += addToolCalls(calls, said['tool_calls'])
    // The legacy function_call is output too, and charged.
    const { name, arguments: args } = asObject(said['function_call'])
    bytes += Buffer.byteLength(textOf(name)) + Buffer.byteLength(textOf(args))
    if (typeof from['finish_reason'] === 'string') choice.finish_reason = from['finish_reason']
    this.outputBytes += bytes
    if (bytes > 0) this.deltas++
  }

  addChunk(chunk: JsonObject): void {
    for (const choice of objects(chunk['choices'])) {
      this.addPiece(choice, asObject(choice['delta']))
    }
    if (chunk['usage']) this.usage = chunk['usage']
    if (chunk['service_tier']) this.tier = chunk['service_tier']
  }

  addTexts({ kind, texts }: TextFrames): void {
    const gathered = this.gatheredAt(kind.choice)
    const text = texts.length === 1 ? (texts[0] ?? '') : texts.join('')
    gathered.recent += text
    gathered.recentCount++
    if (gathered.recentCount >= mostRecent) keepRecent(gathered)
    this.outputBytes += Buffer.byteLength(text)
    for (const { length } of texts) if (length > 0) this.deltas++
  }

  hasOutput(): boolean {
    return this.outputBytes > 0
  }

  answer(): Answer {
    const { outputBytes, deltas, usage, tier } = this
    const all = [...this.choices.values()]
    for (const gathered of all) keepRecent(gathered)
    const ordered = all.sort((a, b) => a.choice.index - b.choice.index)
    return { choices: ordered.map(toChoice), outputBytes, deltas, usage, tier }
  }

  private choiceAt(from: JsonObject): Gathered {
    const gathered = this.gatheredAt(from)
    keepRecent(gathered)
    return gathered
  }

  private gatheredAt(from: JsonObject): Gathered {
    const index = integer(from['index'])
    const known = this.choices.get(index)
    if (known) return known
    const message: Choice['message'] = { role: 'assistant', content: null }
    const choice = { index, message, finish_reason: null }
    const fresh = { choice, calls: new Map(), recent: '', recentCount: 0 }
    this.choices.set(index, fresh)
    return fresh
  }
}

/** Moves the recent texts to the content, as a copy. They hold no half of a surrogate pair. */
function keepRecent(gathered: Gathered): void {
  const { message } = gathered.choice
  if (gathered.recentCount === 0) return
  message.content = (message.content ?? '') + Buffer.from(gathered.recent).toString()
  gathered.recent = ''
  gathered.recentCount = 0
}

/** Replaces lone surrogates, which a cut can leave and no receipt can commit to. */
function toChoice({ choice, calls }: { choice: Choice; calls: Map<number, ToolCall> }): Choice {
  const { index, message } = choice
  const finish_reason = choice.finish_reason?.toWellFormed() ?? null
  if (calls.size === 0) {
    return {
      index,
      message: { role: 'assistant', content: message.content?.toWellFormed() ?? '' },
      finish_reason,
    }
  }
  const ordered = [...calls].sort(([a], [b]) => a - b).map(([, call]) => wellFormed(call))
  // Beside tool calls, upstreams send empty content as '' or null; receipts use null.
  const content = message.content?.toWellFormed() || null
  return { index, message: { role: 'assistant', content, tool_calls: ordered }, finish_reason }
}

const wellFormed = (call: ToolCall): ToolCall =>
  JSON.parse(JSON.stringify(call), (_, value) =>
    typeof value === 'string' ? value.toWellFormed() : value,
  )

/** Adds pieces of tool calls by index; returns their UTF-8 bytes. */
function addToolCalls(calls: Map<number, ToolCall>, pieces: Json): number {
  let bytes = 0
  objects(pieces).forEach((piece, position) => {
    const index = piece['index'] === undefined ? position : integer(piece['index'])
    const call = calls.get(index) ?? { id: '', type: 'function' }
    if (typeof piece['id'] === 'string') call.id = piece['id']
    if (typeof piece['type'] === 'string') call.type = piece['type']
    const { custom } = piece
    const { name, arguments: args, input } = asObject(custom ?? piece['function'])
    const [named, text] = [textOf(name), textOf(custom ? input : args)]
    if (custom || call.custom) {
      call.custom ??= { name: '', input: '' }
      call.custom.name += named
      call.custom.input += text
    } else {
      call.function ??= { name: '', arguments: '' }
      call.function.name += named
      call.function.arguments += text
    }
    bytes += Buffer.byteLength(named) + Buffer.byteLength(text)
    calls.set(index, call)
  })
  return bytes
}

export const asObject = (value: Json | undefined): JsonObject => (isObject(value) ? value : {})

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Returns the list itself if all its items are objects: do not mutate it. */
export function objects(value: Json | undefined): JsonObject[] {
  if (!Array.isArray(value)) return []
  return value.every(isObject) ? value : value.map(asObject)
}

const integer = (value: Json | undefined): number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : 0

const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '')
