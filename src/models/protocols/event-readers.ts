/** Readers of streams in protocols of named events: handed on as they are, or as chunks. */
import { isObject, type JsonObject } from '../../kernel/json-object.ts'
import { NativeEvent } from '../native-event.ts'
import type { ChunkReader } from './chat/read-chunks.ts'
import type { EventReader, Outcome, ReadChunk } from './event-reader.ts'
import type { EventRepair, RepairedEvent } from './repaired.ts'

/** Reads events, which are in order, in the shape of Chat Completions. */
type Translator = { read(event: JsonObject): { chunk?: JsonObject; isEnd?: boolean } }

export const messageEnds = (type: unknown): boolean => type === 'message_stop'
export const responseEnds = (type: unknown): boolean =>
  type === 'response.completed' || type === 'response.incomplete'

const failed = { error: { message: 'The answer ends with an error.' } }

/** Hands on each event, and the very text of those in which nothing is odd. */
export class NativeReader implements EventReader {
  constructor(
    private readonly repair: EventRepair,
    private readonly translator: Translator,
    private readonly isLast: (type: unknown) => boolean,
  ) {}

  read(event: JsonObject, text: string, out: ReadChunk[]): Outcome {
    // An object without a type is none of the protocol's events: it says nothing.
    if (typeof event['type'] !== 'string' && event['object'] !== 'response') return undefined
    const repaired = this.repair.repair(event)
    if (Array.isArray(repaired)) {
      const isEnd = this.add(repaired, out)
      if (this.repair.hasFailed) return failed
      return isEnd ? 'end' : undefined
    }
    out.push(new NativeEvent(event, text, this.translator.read(event).chunk))
    return this.isLast(event['type']) ? 'end' : undefined
  }

  close(isDone: boolean, out: ReadChunk[]): boolean {
    const rest = this.repair.close(isDone)
    if (rest) this.add(rest, out)
    return rest !== undefined
  }

  private add(events: readonly RepairedEvent[], out: ReadChunk[]): boolean {
    let isEnd = false
    for (const { event, shown = event } of events) {
      const { chunk } = this.translator.read(event)
      out.push(new NativeEvent(event, JSON.stringify(shown), chunk))
      isEnd ||= this.isLast(event['type'])
    }
    return isEnd
  }
}

/** Reads events as chunks of Chat Completions. */
export class TranslatingReader implements EventReader {
  private hasBegun = false

  constructor(
    private readonly repair: EventRepair,
    private readonly translator: Translator,
    private readonly chunks: ChunkReader,
  ) {}

  read(event: JsonObject, text: string, out: ReadChunk[]): Outcome {
    const repaired = this.repair.repair(event)
    if (!Array.isArray(repaired)) return this.translate(repaired, text, out)
    const outcome = this.each(repaired, out)
    return this.repair.hasFailed ? failed : outcome
  }

  close(isDone: boolean, out: ReadChunk[]): boolean {
    const rest = this.repair.close(isDone)
    if (rest) this.each(rest, out)
    return rest !== undefined
  }

  private each(events: readonly RepairedEvent[], out: ReadChunk[]): Outcome {
    let outcome: Outcome
    for (const { event } of events) outcome = this.translate(event, '', out) ?? outcome
    return outcome
  }

  private translate(event: JsonObject, text: string, out: ReadChunk[]): Outcome {
    const { chunk, isEnd } = this.translator.read(event)
    let outcome: Outcome
    if (chunk && this.hasBegun && isText(chunk)) out.push(chunk)
    else if (chunk) {
      outcome = this.chunks.read(chunk, text, out)
      this.hasBegun = true
    }
    return outcome ?? (isEnd ? 'end' : undefined)
  }
}

/** Whether a translated chunk says text alone, in which nothing can be odd. */
function isText({ choices }: JsonObject): boolean {
  const [choice] = Array.isArray(choices) ? choices : []
  if (!isObject(choice) || choice['finish_reason'] !== null) return false
  const { delta } = choice
  return isObject(delta) && delta['tool_calls'] === undefined && delta['role'] === undefined
}
