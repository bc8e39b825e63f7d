/** Makes calls of freeform tools of the calls of functions that stood for them. */
import type { Json } from '../kernel/canonical.ts'
import { isObject, type JsonObject, objectOf, parseObject } from '../kernel/json-object.ts'
import { argument } from '../models/protocols/freeform.ts'
import { objectsIn, textOf } from '../models/protocols/reading.ts'
import { UnwrappedText } from '../models/protocols/unwrapped-text.ts'
import { type Chunk, isPlain } from '../models/upstream/upstream.ts'

/** The calls of one answer. */
export class FreeformCalls {
  /** The text of each call of a freeform tool, by choice and index. */
  private readonly open = new Map<string, UnwrappedText>()

  constructor(private readonly names: ReadonlySet<string>) {}

  /** A whole answer. */
  whole(answer: JsonObject): JsonObject {
    return withChoices(answer, (choice) => {
      const message = objectOf(choice['message'])
      const { tool_calls: calls } = message
      if (!Array.isArray(calls)) return choice
      return {
        ...choice,
        message: { ...message, tool_calls: calls.map((call) => this.call(call)) },
      }
    })
  }

  /** The chunks of a stream, in order. */
  chunks(batch: readonly Chunk[]): Chunk[] {
    return batch.map((chunk) =>
      isPlain(chunk) ? withChoices(chunk, (one) => this.piece(one)) : chunk,
    )
  }

  private call(call: Json): Json {
    const { function: called, type: _, ...rest } = objectOf(call)
    const { name, arguments: args } = objectOf(called)
    if (!this.names.has(textOf(name))) return call
    return { ...rest, type: 'custom', custom: { name: name ?? '', input: textIn(textOf(args)) } }
  }

  private piece(choice: JsonObject): JsonObject {
    const delta = objectOf(choice['delta'])
    const isEnd = typeof choice['finish_reason'] === 'string'
    if (!Array.isArray(delta['tool_calls']) && !(isEnd && this.open.size > 0)) return choice
    const at = String(choice['index'] ?? 0)
    const pieces = objectsIn(delta['tool_calls']).map((piece) => this.unwrapped(at, piece))
    if (isEnd) pieces.push(...this.rest(at))
    return { ...choice, delta: { ...delta, tool_calls: pieces } }
  }

  private unwrapped(choice: string, piece: JsonObject): JsonObject {
    const { function: called, type: _, ...rest } = piece
    const { name, arguments: args } = objectOf(called)
    const key = `${choice}:${piece['index'] ?? 0}`
    const isNew = this.names.has(textOf(name))
    if (isNew) this.open.set(key, new UnwrappedText())
    const text = this.open.get(key)
    if (!text) return piece
    const input = text.add(textOf(args))
    if (!isNew) return { ...rest, custom: { input } }
    return { ...rest, type: 'custom', custom: { name: name ?? '', input } }
  }

  /** Arguments of another form are said as they are, when the call is complete. */
  private rest(choice: string): JsonObject[] {
    const pieces: JsonObject[] = []
    for (const [key, text] of this.open) {
      const [of, index] = key.split(':')
      if (of !== choice) continue
      const input = textIn(text.rest())
      if (input !== '') pieces.push({ index: Number(index), custom: { input } })
      this.open.delete(key)
    }
    return pieces
  }
}

/** The text that arguments hold: of the one argument, or of another one that stands alone. */
function textIn(args: string): string {
  const read = parseObject(args)
  const texts = Object.values(read ?? {}).filter((value) => typeof value === 'string')
  const { [argument]: input = texts.length === 1 ? texts[0] : undefined } = read ?? {}
  return typeof input === 'string' ? input : args
}

function withChoices(body: JsonObject, change: (choice: JsonObject) => JsonObject): JsonObject {
  const { choices } = body
  if (!Array.isArray(choices)) return body
  return { ...body, choices: choices.map((choice) => (isObject(choice) ? change(choice) : choice)) }
}
