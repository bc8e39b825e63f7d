/** Streams the output of a run as server-sent events. */
import type { Deps } from '../../app/deps-port.ts'
import { deadlineIn } from '../../kernel/deadline.ts'
import type { Log } from '../../kernel/log.ts'
import type { Refusal } from '../../kernel/refusal.ts'
import type { Chunk } from '../../models/upstream/upstream.ts'
import { receiptIdOf } from '../../proof/receipts/receipt.ts'
import type { RunRow } from '../../storage/db/schema/schema.ts'
import { type Reply, replyMax } from '../../storage/idempotency/call.ts'
import type { BodyRoom } from '../../web/http/memory-budget.ts'
import {
  errorFrame,
  type SseClient,
  type SseContext,
  sseAnswer,
  sseResponse,
} from '../../web/http/sse.ts'
import type { ReplyKeeper } from '../ending.ts'
import { type LiveRun, stopWithClient, stopWithWaiting } from '../live-run.ts'
import { type Sink, type StreamedAnswer, stream } from '../stream.ts'
import { limitHeaders } from './complete.ts'

/** How a run is written to a client: its chunks, and what follows the settle's COMMIT. */
export type Shape = {
  /** The frames of some chunks, in order. */
  write(chunks: readonly Chunk[]): string
  last(done: StreamedAnswer): string
  /** The last frame of a run that broke off; our error body when absent. */
  toError?: (refusal: Refusal, requestId: string) => string
  /** The items that a next turn can name. */
  items?: ReplyKeeper<StreamedAnswer>['items']
}

/**
 * How long an answer waits for the first chunk before its headers go out. Until then a failure
 * is a plain error with its own status, which clients can retry.
 */
const openWithinMs = 10_000

/**
 * Streams a run to a client. A client that goes away stops the upstream at once; a failure after
 * the first chunk is said in band, and no `[DONE]` follows it.
 */
export async function streamRun(
  deps: Deps,
  live: LiveRun,
  context: SseContext & { room?: BodyRoom | undefined },
  shape: Shape,
): Promise<Response> {
  live.takeRoom(context.room)
  const listening = stopWithWaiting(live, context.request)
  const told = live.call === undefined ? undefined : openTranscript(deps, live, context)
  const sink = new ClientSink(shape.write, told)
  const keep = told?.keep(shape.last, undefined, shape.toError)
  const { items } = shape
  const ended = stream(deps, live, sink, items ? { ...keep, items } : keep)
  const tooLong = deadlineIn(openWithinMs, sink)
  await sink.opened
  tooLong.clear()
  listening.clear()
  // A run that failed before its client was answered is a refusal like others.
  const whole = sink.isOpen ? undefined : await ended
  context.set.headers['x-receipt-id'] = receiptIdOf(live.id)
  Object.assign(context.set.headers, limitHeaders(live))
  if (whole) return sseAnswer(context, sink.early + shape.last(whole))
  // It may fail before its client is there to be told.
  ended.catch(() => {})
  // From here the stream listens.
  live.client = undefined
  return sseResponse(
    context,
    async (client) => {
      stopWithClient(live, client.signal)
      sink.connect(client)
      client.send(shape.last(await ended))
    },
    { onBug: (error) => logBug(deps.log, live, error), toError: shape.toError, keeper: live },
  )
}

/** Sends the chunks of a run to its client, and keeps those that come before there is one. */
class ClientSink implements Sink {
  /** The frames for a client that did not connect yet. */
  early = ''
  isOpen = false
  private client: SseClient | undefined
  private readonly opening = Promise.withResolvers<void>()
  private connecting: PromiseWithResolvers<void> | undefined

  constructor(
    private readonly write: (chunks: readonly Chunk[]) => string,
    private readonly told: { add(frames: string): void } | undefined,
  ) {}

  /** Resolves when the run has ended, or its client is to be answered before that. */
  get opened(): Promise<void> {
    return this.opening.promise
  }

  send(chunks: readonly Chunk[], isLast: boolean): Promise<void> | undefined {
    const frames = this.write(chunks)
    this.told?.add(frames)
    if (this.client) return this.client.send(frames)
    this.early += frames
    // An answer that ends before anything went out needs no stream.
    if (isLast && !this.isOpen) return undefined
    this.handleDeadline()
    this.connecting ??= Promise.withResolvers()
    return this.connecting.promise
  }

  end(): void {
    this.opening.resolve()
  }

  /** The client has waited long enough. */
  handleDeadline(): void {
    this.isOpen = true
    this.opening.resolve()
  }

  connect(client: SseClient): void {
    const { early, connecting } = this
    this.client = client
    this.early = ''
    this.connecting = undefined
    const behind = early === '' ? undefined : client.send(early)
    connecting?.resolve(behind)
  }
}

/**
 * Writes down what goes out to a client, up to a bound, so that it can be told again as one
 * stream. Only for a run with a call.
 */
export function openTranscript(
  { replies }: Pick<Deps, 'replies'>,
  live: LiveRun,
  { set }: Pick<SseContext, 'set'>,
) {
  const { call: scope } = live
  if (scope === undefined) throw new Error(`run ${live.id} is not to be told again`)
  const requestId = String(set.headers['x-request-id'] ?? '')
  const headers = {
    'content-type': 'text/event-stream; charset=utf-8',
    'x-receipt-id': receiptIdOf(live.id),
  }
  const frames: string[] = []
  let length = 0
  const add = (text: string): void => {
    length += text.length
    if (length > replyMax) frames.length = 0
    else frames.push(text)
  }
  const endWith = (text: string): Uint8Array => {
    add(text)
    const reply: Reply = {
      status: 200,
      headers: { ...headers, ...limitHeaders(live) },
      body: length > replyMax ? null : frames.join(''),
    }
    return replies.seal(scope, reply)
  }
  return {
    add,
    keep: (
      last: (done: StreamedAnswer) => string,
      toRefusal: (refusal: Refusal, run: RunRow) => Refusal = (refusal) => refusal,
      toError = errorFrame,
    ): ReplyKeeper<StreamedAnswer> => ({
      done: (done) => endWith(last(done)),
      failed: (refusal, run) => endWith(toError(toRefusal(refusal, run), requestId)),
    }),
  }
}

const logBug = (log: Log, live: LiveRun, error: unknown): void =>
  log.error('run.stream_failed', error, { run_id: live.id })
