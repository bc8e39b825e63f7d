/** Puts the pieces of tool calls in the order of their calls, for protocols that write so. */
import type { Json } from '../../kernel/canonical.ts'
import type { JsonObject } from '../../kernel/json-object.ts'
import { objectOf } from '../../kernel/json-object.ts'
import { textOf } from './reading.ts'

type WaitingCall = { key: Json; pieces: JsonObject[] }

/**
 * Chat Completions may mix the pieces of several calls. Those of a later call wait until the one
 * before it is whole JSON, or the answer ends.
 */
export class CallsInTurn {
  private open: { key: Json; said: string; isCustom: boolean } | undefined
  private waiting: WaitingCall[] = []

  /** The pieces that can be written now, each of the call before it or of the next one. */
  add(piece: JsonObject): JsonObject[] {
    const key = piece['index'] ?? piece['id'] ?? 0
    this.open ??= { key, said: '', isCustom: isCustom(piece) }
    if (this.open.key === key) {
      this.open.said += argumentsOf(piece)
      return [piece]
    }
    const known = this.waiting.find((call) => call.key === key)
    if (known) known.pieces.push(piece)
    else this.waiting.push({ key, pieces: [piece] })
    return isWhole(this.open.said) ? this.next() : []
  }

  /** Whether a call goes on, so that nothing else may come between its pieces. */
  get isOpen(): boolean {
    const { open, waiting } = this
    // Nothing tells where the text of a custom tool ends.
    if (!open || open.isCustom) return false
    if (!isWhole(open.said)) return true
    return waiting.some(({ pieces }) => !isWhole(pieces.map(argumentsOf).join('')))
  }

  /** All that waits, in order: nothing more comes of the calls so far. */
  rest(): JsonObject[] {
    const pieces: JsonObject[] = []
    while (this.waiting.length > 0) pieces.push(...this.next())
    this.open = undefined
    return pieces
  }

  private next(): JsonObject[] {
    const call = this.waiting.shift()
    if (!call) return []
    const said = call.pieces.map(argumentsOf).join('')
    this.open = { key: call.key, said, isCustom: call.pieces.some(isCustom) }
    return call.pieces
  }
}

function argumentsOf(piece: JsonObject): string {
  const { arguments: args, input } = objectOf(piece['custom'] ?? piece['function'])
  return textOf(args ?? input)
}

const isCustom = ({ custom }: JsonObject): boolean => custom !== undefined

function isWhole(text: string): boolean {
  // The last letter says enough of most, and a long text is not parsed each time.
  if (!text.trimEnd().endsWith('}')) return false
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
