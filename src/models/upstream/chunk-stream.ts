/** Reads the chunks of a stream from the bytes of an answer. */
import { systemClock } from '../../kernel/clock.ts'
import { isObject, type JsonObject, objectOf, parseObject } from '../../kernel/json-object.ts'
import { isEmpty } from '../free-members.ts'
import { NativeEvent } from '../native-event.ts'
import { ChunkReader } from '../protocols/chat/read-chunks.ts'
import type { EventReader, Outcome } from '../protocols/event-reader.ts'
import { objectsIn } from '../protocols/reading.ts'
import { TextFrames } from '../text-frames.ts'
import type { WireAnswer } from './http.ts'
import { errorObjectIn, inBandFailure } from './in-band.ts'
import { Recogniser } from './recogniser.ts'
import type { WordRules } from './refused.ts'
import { type EventTaker, SseParser } from './sse.ts'
import {
  type Batch,
  type Chunk,
  type Chunks,
  type ChunkTaker,
  type FailureReason,
  isPlain,
  UpstreamFailure,
} from './upstream.ts'

type Reading = {
  /** Reads the events of its protocol; chunks of Chat Completions when absent. */
  reader?: EventReader | undefined
  /** Parses every frame, also those that would be recognised. */
  parseAll?: boolean
  /** Rules for the words of a failure. */
  rules?: WordRules
  /** How long bytes may come that say nothing, such as comments, in ms; for ever when absent. */
  quietMs?: number
}

/** Waits for the first chunks, so that a stream which gives none can still go elsewhere. */
export async function openChunks(
  answer: WireAnswer,
  { reader = plainReader(), parseAll = false, rules = noWords, quietMs }: Reading = {},
): Promise<Chunks> {
  const recogniser = reader instanceof ChunkReader && !parseAll ? new Recogniser() : undefined
  const chunks = new ChunkStream(answer, recogniser, reader, rules, quietMs)
  await chunks.open()
  return chunks
}

const noWords: WordRules = { secrets: [], isRelayed: false }
const plainReader = (): EventReader => new ChunkReader({ newId: (place) => `call_${place}` })

type End = UpstreamFailure | FailureReason | 'done' | 'left'

/** The chunks of a body, one read at a time. Chunks before a fault are returned first. */
class ChunkStream implements Chunks, AsyncIterator<Batch>, EventTaker {
  private readonly parser = new SseParser(this)
  /** The chunks that the present read gave so far. */
  private batch: Batch | undefined
  /** The batches that came before the reader did. */
  private first: Batch | undefined
  private end: End | undefined
  /** The time since which reads gave nothing; undefined after one that did. */
  private quietSince: number | undefined
  /** No more bytes will come. */
  private isClosed = false

  constructor(
    private readonly answer: WireAnswer,
    private recogniser: Recogniser | undefined,
    private readonly reader: EventReader,
    private readonly rules: WordRules,
    private readonly quietMs = Number.POSITIVE_INFINITY,
  ) {}

  async open(): Promise<void> {
    try {
      this.first = await this.take()
      // The failure alone is the answer where nothing was said before it.
      const { first, end = 'left' } = this
      if (first && end !== 'done' && end !== 'left' && first.every(isSilent)) this.finish(end)
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

  async each(take: ChunkTaker<Batch>): Promise<void> {
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

  /** Bytes that had come when it was stopped are passed on too: they may hold the usage. */
  private passLeft(error: unknown, take: ChunkTaker<Batch>): void {
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

  private pass(bytes: Uint8Array | undefined, take: ChunkTaker<Batch>): boolean | Promise<boolean> {
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
    if (batch.length === 0) this.watchQuiet()
    else this.quietSince = undefined
    if (this.end === 'done') batch.isLast = true
    return batch
  }

  private watchQuiet(): void {
    const now = systemClock.monotonic()
    this.quietSince ??= now
    if (now - this.quietSince > this.quietMs) this.end ??= 'too_long'
  }

  private close(): void {
    this.isClosed = true
    this.parser.end()
    if (!this.end) this.end = this.reader.close(false, this.batch ?? []) ? 'done' : 'cut'
  }

  takeText(text: string, from: number): number {
    const found = this.end ? undefined : this.recogniser?.match(text, from)
    if (!found) return from
    this.batch?.push(found.frames)
    return found.end
  }

  takeEvent(data: string, name?: string): void {
    if (data === '' || this.end) return
    const text = data.trimEnd()
    if (text === '[DONE]') this.end = this.reader.close(true, this.batch ?? []) ? 'done' : 'error'
    if (this.end || text === 'null') return
    const learned = this.recogniser?.learn(data, parseObject)
    const event = learned ?? parseObject(data)
    // Half an event at the end of the body was cut off, not written wrongly.
    if (!event) this.end = this.isClosed ? 'cut' : 'error'
    else this.readEvent(event, data, { name, isLearned: learned !== undefined })
  }

  private readEvent(
    event: JsonObject,
    text: string,
    { name, isLearned }: { name: string | undefined; isLearned: boolean },
  ): void {
    const { batch = [], reader } = this
    const failure = errorObjectIn(event, name)
    const named = nameEvent(event, name)
    const written = named === event ? text : JSON.stringify(named)
    const outcome: Outcome = failure ?? reader.read(named, written, batch)
    if (isObject(outcome)) this.end = inBandFailure(outcome, this.rules)
    else if (outcome) this.end = outcome === 'end' ? 'done' : 'error'
    const last = batch.at(-1)
    if (isLearned && last && last !== event && isPlain(last)) this.recogniser?.relearn(last)
    // The chunks that follow may have to wait for the end, choice by choice.
    if (reader instanceof ChunkReader && reader.hasFinished) this.recogniser = undefined
  }

  private finish(end: End): void {
    if (end === 'done') this.answer.end()
    else this.answer.stop()
    if (end === 'done' || end === 'left') return
    throw typeof end === 'string' ? new UpstreamFailure(end) : end
  }

  private fail(): void {
    this.first = undefined
    this.end = 'left'
    this.answer.stop()
  }
}

/** The name of an event is also a member of its data, unless its server leaves that out. */
const nameEvent = (event: JsonObject, name: string | undefined): JsonObject =>
  name === undefined || event['type'] !== undefined || name === 'message'
    ? event
    : { type: name, ...event }

/** A connection that breaks is an end of the body like any other: what came before decides. */
function toEnd(error: unknown): undefined {
  if (!isCut(error)) throw error
}

const isCut = (error: unknown): boolean =>
  error instanceof UpstreamFailure && error.reason === 'cut'

/** Events that only begin an answer. */
const openings = new Set<unknown>([
  'message_start',
  'ping',
  'response.created',
  'response.in_progress',
])

/** Whether a chunk says nothing yet: it has a role, or is the start of a message. */
function isSilent(chunk: Chunk): boolean {
  if (chunk instanceof TextFrames) return false
  if (chunk instanceof NativeEvent) return openings.has(chunk.data['type'])
  return objectsIn(chunk['choices']).every(({ delta }) => {
    const { role: _, ...said } = isObject(delta) ? delta : objectOf(null)
    return Object.values(said).every(isEmpty)
  })
}
