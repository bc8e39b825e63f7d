/** Reads the chunks of a chat stream from the bytes of an answer. */
import type { Json } from '../../kernel/canonical.ts'
import { isObject, parseObject } from '../../kernel/json-object.ts'
import type { WireAnswer } from './http.ts'
import { Recogniser } from './recogniser.ts'
import { errorIn, isTooLong } from './refused.ts'
import { type EventTaker, SseParser } from './sse.ts'
import {
  type Batch,
  type Chunks,
  type FailureReason,
  type Take,
  UpstreamFailure,
} from './upstream.ts'
import type { EventReader } from './wire-protocol.ts'

type Reading = {
  /** Reads the events of another protocol than Chat Completions. */
  reader?: EventReader | undefined
  /** Parses every frame, also those that would be recognised. */
  parseAll?: boolean
}

/** Waits for the first chunks, so that a stream which gives none can still go elsewhere. */
export async function openChunks(
  answer: WireAnswer,
  { reader, parseAll = false }: Reading = {},
): Promise<Chunks> {
  const recogniser = reader || parseAll ? undefined : new Recogniser()
  const chunks = new ChunkStream(answer, recogniser, reader)
  await chunks.open()
  return chunks
}

/** The last event of some protocols repeats the whole answer. In UTF-16 units. */
const maxForeignEvent = 8 * 1024 * 1024

type End = FailureReason | 'done' | 'left'

/** The chunks of a body, one read at a time. Chunks before a fault are returned first. */
class ChunkStream implements Chunks, AsyncIterator<Batch>, EventTaker {
  private readonly parser: SseParser
  /** What the read of now gave so far. */
  private batch: Batch | undefined
  /** What came before the reader did. */
  private first: Batch | undefined
  /** The choices that were touched, and whether they finished. */
  private readonly finished = new Map<number, boolean>()
  private end: End | undefined
  /** No more bytes will come. */
  private isClosed = false

  constructor(
    private readonly answer: WireAnswer,
    private recogniser: Recogniser | undefined,
    private readonly reader: EventReader | undefined,
  ) {
    this.parser = reader ? new SseParser(this, maxForeignEvent) : new SseParser(this)
  }

  async open(): Promise<void> {
    try {
      this.first = await this.take()
    } catch (error) {
      this.fail()
      throw isCut(error) ? new UpstreamFailure('error') : error
    }
    if (!this.first) throw new UpstreamFailure('error')
  }

  [Symbol.asyncIterator](): AsyncIterator<Batch> {
    return this
  }

  async next(): Promise<IteratorResult<Batch>> {
    try {
      const value = this.takeFirst() ?? (await this.take())
      return value ? { value, done: false } : { value, done: true }
    } catch (error) {
      this.fail()
      throw error
    }
  }

  async return(): Promise<IteratorResult<Batch>> {
    this.fail()
    return { done: true, value: undefined }
  }

  async each(take: Take<Batch>): Promise<void> {
    const first = this.takeFirst()
    try {
      const more = first ? take(first) : true
      if (typeof more === 'boolean' ? !more : !(await more)) this.end = 'left'
      if (!this.end) await this.answer.flow((bytes) => this.pass(bytes, take)).catch(toEnd)
      if (!this.end) await this.pass(undefined, take)
      this.finish(this.end ?? 'cut')
    } catch (error) {
      this.passLeft(error, take)
      // Also after an error of `take`: no other code stops the upstream.
      this.fail()
      throw error
    }
  }

  /** What had come when it was stopped is passed on too: it may hold what the run used. */
  private passLeft(error: unknown, take: Take<Batch>): void {
    const isStopped = error instanceof UpstreamFailure && error.reason === 'aborted'
    const left = isStopped && !this.end ? this.answer.left?.() : undefined
    if (!left) return
    try {
      take(this.read(left))
    } catch {
      // Half an event, or one that is too long.
    }
  }

  private takeFirst(): Batch | undefined {
    const { first } = this
    this.first = undefined
    return first
  }

  /** The next chunks; undefined at the end. */
  private async take(): Promise<Batch | undefined> {
    while (!this.end) {
      const batch = this.read(await this.answer.read().catch(toEnd))
      if (batch.length > 0) return batch
    }
    this.finish(this.end)
    return undefined
  }

  private pass(bytes: Uint8Array | undefined, take: Take<Batch>): boolean | Promise<boolean> {
    const batch = this.read(bytes)
    if (batch.length === 0) return !this.end
    const more = take(batch)
    return typeof more === 'boolean' ? this.goesOn(more) : more.then((is) => this.goesOn(is))
  }

  private goesOn(more: boolean): boolean {
    if (!more) this.end = 'left'
    return !this.end
  }

  /** The chunks of one read; of what is left without bytes, when no more will come. */
  private read(bytes: Uint8Array | undefined): Batch {
    const batch: Batch = []
    this.batch = batch
    if (bytes) this.parser.push(bytes)
    else this.close()
    this.batch = undefined
    if (this.end === 'done') batch.isLast = true
    return batch
  }

  private close(): void {
    this.isClosed = true
    this.parser.end()
    const { finished } = this
    const isWhole = finished.size > 0 && finished.values().every((is) => is)
    this.end ??= isWhole ? 'done' : 'cut'
  }

  takeText(text: string, from: number): number {
    const found = this.end ? undefined : this.recogniser?.match(text, from)
    if (!found) return from
    this.batch?.push(found.frames)
    return found.end
  }

  takeEvent(data: string): void {
    if (data === '' || this.end) return
    if (data.trimEnd() === '[DONE]') {
      this.end = 'done'
      return
    }
    if (this.reader) {
      this.takeForeign(data, this.reader)
      return
    }
    const chunk = this.recogniser?.learn(data, parseObject) ?? parseObject(data)
    if (chunk?.['error']) this.end = isTooLong(errorIn(chunk)) ? 'context' : 'error'
    else if (chunk && this.note(chunk['choices'])) this.batch?.push(chunk)
    // Half an event at the end of the body was cut off, not written wrongly.
    else this.end = chunk || !this.isClosed ? 'error' : 'cut'
  }

  private takeForeign(data: string, reader: EventReader): void {
    const event = parseObject(data)
    const { chunk, isEnd, isError = false } = event ? reader.read(event, data) : {}
    if (event && isError) {
      const { response } = event
      const said = isObject(response) && response['error'] ? response : event
      this.end = isTooLong(errorIn(said)) ? 'context' : 'error'
      return
    }
    if (!event) {
      this.end = this.isClosed ? 'cut' : 'error'
      return
    }
    if (chunk) this.batch?.push(chunk)
    if (isEnd) this.end = 'done'
  }

  /** Remembers which choices a chunk touched or finished; false if they are malformed. */
  private note(choices: Json | undefined): boolean {
    if (choices === undefined || choices === null) return true
    if (!Array.isArray(choices)) return false
    const { finished } = this
    for (const choice of choices) {
      if (!isObject(choice)) return false
      const index = choice['index'] ?? 0
      if (typeof index !== 'number') return false
      if (typeof choice['finish_reason'] === 'string') {
        finished.set(index, true)
        // What follows may have to wait for the end, choice by choice.
        this.recogniser = undefined
      } else if (!finished.has(index)) finished.set(index, false)
    }
    return true
  }

  private finish(end: End): void {
    if (end === 'done') this.answer.end()
    else this.answer.stop()
    if (end !== 'done' && end !== 'left') throw new UpstreamFailure(end)
  }

  private fail(): void {
    this.first = undefined
    this.end = 'left'
    this.answer.stop()
  }
}

/** A connection that breaks is an end of the body like any other: what came before decides. */
function toEnd(error: unknown): undefined {
  if (!isCut(error)) throw error
}

const isCut = (error: unknown): boolean =>
  error instanceof UpstreamFailure && error.reason === 'cut'
