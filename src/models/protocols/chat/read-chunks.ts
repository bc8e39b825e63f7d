/** Reads the chunks of a chat stream, each as the protocol has it. */
import type { Json } from '../../../kernel/canonical.ts'
import { isObject, type JsonObject } from '../../../kernel/json-object.ts'
import { isEmpty } from '../../free-members.ts'
import type { EventReader, Outcome, ReadChunk } from '../event-reader.ts'
import { indexOf, type NewId } from './repair-calls.ts'
import { ChoiceRepair } from './repair-choice.ts'

export type ChunkRules = {
  newId: NewId
  hasFunctions?: boolean
  onUnknown?: ((word: string) => void) | undefined
}

/** Chunks that are in order pass as the very same objects. */
export class ChunkReader implements EventReader {
  private readonly choices = new Map<number, ChoiceRepair>()

  constructor(private readonly rules: ChunkRules) {}

  /** Whether a choice finished: what follows may have to wait for the end. */
  hasFinished = false

  read(chunk: JsonObject, _text: string, out: ReadChunk[]): Outcome {
    const { choices } = chunk
    if (isEmpty(choices)) {
      out.push(chunk)
      return undefined
    }
    if (!Array.isArray(choices)) return 'malformed'
    const hasBegun = this.choices.size > 0
    // A whole answer in the place of a stream has all of its choices.
    const isWhole = chunk['object'] === 'chat.completion'
    let repaired: Json[] | undefined
    let hasFailed = false
    for (let at = 0; at < choices.length; at++) {
      const choice = choices[at]
      const index = isObject(choice) ? indexOf(choice['index'] ?? at) : undefined
      if (!isObject(choice) || index === undefined) return 'malformed'
      if (choice['error']) return choice
      const known = this.choices.get(index) ?? this.begin(index)
      const one = known.repair(choice, isWhole)
      hasFailed ||= known.hasFailed
      if (known.isFinished) this.hasFinished = true
      if (one === choice) continue
      repaired ??= [...choices]
      repaired[at] = one
    }
    // A failure before anything came is the whole answer.
    if (!hasFailed || hasBegun) out.push(repaired ? { ...chunk, choices: repaired } : chunk)
    return hasFailed ? { error: { message: 'The answer ends with an error.' } } : undefined
  }

  close(isDone: boolean, out: ReadChunk[]): boolean {
    if (this.choices.size === 0) return false
    const open = [...this.choices.values()].filter(({ isFinished }) => !isFinished)
    if (open.length === 0) return true
    if (!isDone) return false
    out.push({ choices: open.map((choice) => choice.end()) })
    return true
  }

  private begin(index: number): ChoiceRepair {
    const { newId, hasFunctions = false, onUnknown = () => {} } = this.rules
    const choice = new ChoiceRepair(index, {
      // Ids are those of all choices of an answer.
      newId: (place) => newId(index * mostCalls + place),
      hasFunctions,
      onUnknown,
    })
    this.choices.set(index, choice)
    return choice
  }
}

/** More calls than a choice makes. */
const mostCalls = 1000
