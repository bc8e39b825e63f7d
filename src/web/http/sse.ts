/** Server-sent events. */
import { type Deadline, deadlineIn } from '../../kernel/deadline.ts'
import { type Refusal, toErrorBody } from '../../kernel/refusal.ts'
import { type StopSignal, StopSwitch } from '../../kernel/stop.ts'
import { streamRoomFor } from './expected-body.ts'
import type { StreamRoom } from './memory-budget.ts'
import { answerShared, standing } from './standing-headers.ts'
import { toRefusal } from './to-refusal.ts'

/** The parts of a route's context that a stream uses. */
export type SseContext = {
  request: Request
  set: { headers: Record<string, string | number> }
  server: { timeout(request: Request, seconds: number): void } | null
}

/** One client at the end of a stream. */
export type SseClient = {
  /** Aborts when the client is gone: it hung up, or read nothing for the write deadline. */
  signal: StopSignal
  /**
   * Writes ready-made frames. Answers a promise only while the client is behind: await it before
   * sending on. Frames for a client that is gone are dropped.
   */
  send(frames: string): Promise<void> | undefined
}

export type SseOptions = {
  /** Told of a bug in the run; a refusal is expected and not told. */
  onBug: (error: unknown) => void
  /** Writes a refusal as the last event, in the place of our error body. */
  toError?: ((refusal: Refusal, requestId: string) => string) | undefined
  heartbeatMs?: number
  /** The most that is kept of what is sent before there is a socket to write to. */
  bufferBytes?: number
  writeDeadlineMs?: number
  keeper?: Keeper
}

/** A run that keeps what it sent. */
type Keeper = {
  /** Tells what else is kept while the reader takes nothing, in bytes, from the length sent. */
  keptBytes(sent: number): number
  /** Takes over the room of what it still keeps without its reader; it may end then. */
  keepOn(sent: number, room: StreamRoom | undefined): void
  leave(): void
}

type SseRun = (client: SseClient) => Promise<void>

const defaultDeadlineMs = 30_000

const ping = ': ping\n\n'

/** Headers of every stream of events. */
const shared = new Headers({
  ...standing,
  'content-type': 'text/event-stream; charset=utf-8',
  'x-accel-buffering': 'no',
})

const close = (open: Sink): unknown => open.end()
const cut = (open: Sink): unknown =>
  open.close(new DOMException('The client is gone.', 'AbortError'))

/** One unnamed event; OpenAI's clients break on named ones. */
export const dataFrame = (json: string): string => `data: ${json}\n\n`

/** One unnamed event that a page takes for its content; `id` comes back as `Last-Event-ID`. */
export function htmlFrame(id: string, html: string): string {
  const lines = html.split(/\r\n|\r|\n/).map((line) => `data: ${line}`)
  return `id: ${id}\n${lines.join('\n')}\n\n`
}

/** A refusal as an event. */
export const errorFrame = (refusal: Refusal, requestId: string): string =>
  dataFrame(JSON.stringify(toErrorBody(refusal, requestId)))

/** Answers with events that are all there already. */
export const sseAnswer = ({ set }: Pick<SseContext, 'set'>, frames: string): Response =>
  answerShared(set, frames, shared)

/**
 * Answers with a stream of server-sent events that `run` writes. A silent stream carries a comment
 * every 15 s. A slow client is waited for once the system's own buffers are full. One that then
 * takes nothing for 30 s counts as gone, and so does one that has no room in the memory budget.
 * An error of `run` becomes the last event, `{"error":…}`, without a `[DONE]` after it: no client
 * may take the stream for whole.
 */
export function sseResponse(
  { request, set, server }: SseContext,
  run: SseRun,
  options: SseOptions,
): Response {
  const requestId = String(set.headers['x-request-id'] ?? '')
  // Elysia answers HEAD by running the GET and reading its body to the end, which may never come.
  if (request.method === 'HEAD') return answerShared(set, null, shared)
  server?.timeout(request, 0)
  const stream = new EventStream(request, options)
  void stream.tell(run, requestId, () => {
    // The last bytes have no run that waits for them: from here Bun's idle timeout watches.
    server?.timeout(request, Math.ceil((options.writeDeadlineMs ?? defaultDeadlineMs) / 1000))
  })
  // The DOM's types, which this project has for its pages, do not know Bun's direct streams.
  return answerShared(set, new ReadableStream<Uint8Array>(stream as object), shared)
}

type Sink = Pick<ReadableStreamDirectController, 'write' | 'end' | 'close'>

/**
 * A stream that is written straight into its socket, all of one turn of the event loop at once. A
 * queue of the stream's own costs a short stream more CPU, and a thousand of them more memory.
 */
class EventStream implements SseClient, Bun.DirectUnderlyingSource<Uint8Array> {
  readonly type = 'direct'
  readonly signal = new StopSwitch()
  private readonly over = Promise.withResolvers<void>()
  private sink: Sink | undefined
  /** Frames sent before Bun asked for the stream and gave it a socket. */
  private early = ''
  private isOver = false
  private waiting: PromiseWithResolvers<void> | undefined
  private deadline: Deadline | undefined
  /** Its part of the memory budget while its reader is behind; one that keeps up needs none. */
  private room: StreamRoom | undefined
  private sent = 0
  private isSilent = true
  private readonly beat: Deadline

  constructor(
    private readonly request: Request,
    private readonly options: SseOptions,
  ) {
    // Half the interval: a tick that finds silence since the tick before speaks.
    this.beat = deadlineIn((options.heartbeatMs ?? 15_000) / 2, this)
    if (request.signal.aborted) this.leave()
    else request.signal.addEventListener('abort', this)
  }

  /** Runs to the end of the stream; what `run` throws is its last event. */
  async tell(run: SseRun, requestId: string, ending: () => void): Promise<void> {
    // In a later tick, so that what a run throws at once is still said in band.
    await undefined
    try {
      await run(this)
    } catch (error) {
      const refusal = toRefusal(error)
      if (refusal.type === 'internal_error') this.options.onBug(error)
      const { toError = errorFrame } = this.options
      this.send(toError(refusal, requestId))
    }
    // Unsent bytes stay in memory: their part of the budget is freed once the client took them.
    if (this.waiting) await this.waiting.promise
    ending()
    this.end(close)
  }

  send(frames: string): Promise<void> | undefined {
    if (!this.isOver) this.put(frames)
    return this.waiting?.promise
  }

  pull(opened: Sink): Promise<void> {
    this.sink = opened
    this.wake()
    // A server sends its headers with the first bytes.
    const { early } = this
    this.early = ''
    this.write(early || ping, opened)
    if (this.isOver) this.end(this.signal.aborted ? cut : close)
    return this.over.promise
  }

  cancel(): void {
    this.leave()
  }

  /** The request's signal. */
  handleEvent(): void {
    this.leave()
  }

  handleDeadline(): void {
    this.beat.refresh()
    if (this.isSilent && !this.waiting) this.put(ping)
    else this.isSilent = true
  }

  private put(frames: string): void {
    const { sink, options } = this
    this.isSilent = false
    if (sink) {
      this.write(frames, sink)
      return
    }
    this.early += frames
    if (this.early.length >= (options.bufferBytes ?? 1 << 20)) {
      this.wait(this.waiting ? frames : this.early)
    }
  }

  private write(frames: string, open: Sink): void {
    this.sent += frames.length
    const taken: number | Promise<number> = open.write(frames)
    // A promise means that the system's own buffers are full: it holds until they took this.
    if (typeof taken === 'number') return
    this.wait(frames)
    const wake = () => this.wake()
    taken.then(wake, wake)
  }

  /** Counts frames that are not taken, and waits for the reader; or ends, if there is no room. */
  private wait(frames: string): void {
    let bytes = Buffer.byteLength(frames)
    if (!this.waiting) {
      this.waiting = Promise.withResolvers()
      const deadlineMs = this.options.writeDeadlineMs ?? defaultDeadlineMs
      this.deadline = deadlineIn(deadlineMs, () => this.leave())
      bytes += this.options.keeper?.keptBytes(this.sent) ?? 0
    }
    this.room ??= streamRoomFor(this.request, this)
    this.room?.hold(bytes)
  }

  private wake(): void {
    this.deadline?.clear()
    this.room?.release()
    this.waiting?.resolve()
    this.waiting = undefined
  }

  /** Its client is gone, or counts as gone. */
  leave(): void {
    const { isOver, request, sent, options } = this
    this.early = ''
    this.signal.stop()
    this.end(cut)
    const { keeper } = options
    if (keeper && !isOver) keeper.keepOn(sent, streamRoomFor(request, keeper))
  }

  private end(how: (open: Sink) => unknown): void {
    const { sink } = this
    this.beat.clear()
    this.request.signal.removeEventListener('abort', this)
    this.wake()
    this.isOver = true
    this.sink = undefined
    if (sink) how(sink)
    this.over.resolve()
  }
}
