/** Puts the pieces of tool calls in the order of their calls, for protocols that write so. */
import type { Json } from '../../kernel/canonical.ts'
import type { JsonObject } from '../../kernel/json-object.ts'
import { objectOf } from '../../kernel/json-object.ts'
import { GrowingJson } from './growing-json.ts'
import { textOf } from './reading.ts'

type WaitingCall = { key: Json; said: GrowingJson; isCustom: boolean; pieces: JsonObject[] }

/**
 * Chat Completions may mix the pieces of several calls. Those of a later call wait until the one
 * before it is whole JSON, or the answer ends.
 */
export class CallsInTurn {
  private open: Omit<WaitingCall, 'pieces'> | undefined
  /** The calls that waited, in order, and the place of the first that still does. */
  private queue: WaitingCall[] = []
  private first = 0
  private readonly waiting = new Map<Json, WaitingCall>()
  /** How many of those that wait are not whole. */
  private partial = 0

  /** The pieces that can be written now, each of the call before it or of the next one. */
  add(piece: JsonObject): JsonObject[] {
    const key = piece['index'] ?? piece['id'] ?? 0
    this.open ??= { key, said: new GrowingJson(), isCustom: isCustom(piece) }
    if (this.open.key === key) {
      this.open.said.add(argumentsOf(piece))
      return [piece]
    }
    this.wait(key, piece)
    return this.open.said.isWholeObject ? this.next() : []
  }

  /** Whether a call goes on, so that nothing else may come between its pieces. */
  get isOpen(): boolean {
    const { open } = this
    // Nothing tells where the text of a custom tool ends.
    if (!open || open.isCustom) return false
    return !open.said.isWholeObject || this.partial > 0
  }

  /** All that waits, in order: nothing more comes of the calls so far. */
  rest(): JsonObject[] {
    const pieces: JsonObject[] = []
    while (this.first < this.queue.length) for (const piece of this.next()) pieces.push(piece)
    this.queue = []
    this.first = 0
    this.open = undefined
    return pieces
  }

  private wait(key: Json, piece: JsonObject): void {
    let call = this.waiting.get(key)
    if (call) this.partial -= partialOf(call)
    else {
      call = { key, said: new GrowingJson(), isCustom: false, pieces: [] }
      this.waiting.set(key, call)
      this.queue.push(call)
    }
    call.pieces.push(piece)
    call.said.add(argumentsOf(piece))
    call.isCustom ||= isCustom(piece)
    this.partial += partialOf(call)
  }

  private next(): JsonObject[] {
    const call = this.queue[this.first]
    if (!call) return []
    this.first++
    this.waiting.delete(call.key)
    this.partial -= partialOf(call)
    const { pieces, ...open } = call
    this.open = open
    return pieces
  }
}

const partialOf = ({ said }: WaitingCall): number => (said.isWholeObject ? 0 : 1)

function argumentsOf(piece: JsonObject): string {
  const { arguments: args, input } = objectOf(piece['custom'] ?? piece['function'])
  return textOf(args ?? input)
}

const isCustom = ({ custom }: JsonObject): boolean => custom !== undefined
