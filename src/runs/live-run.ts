/** A run of this process until its settlement, and the switch that stops it. */
import type { Json } from '../kernel/canonical.ts'
import type { Millis } from '../kernel/clock.ts'
import { type Deadline, deadlineIn } from '../kernel/deadline.ts'
import { type StopSignal, StopSwitch } from '../kernel/stop.ts'
import type { Trace } from '../kernel/trace.ts'
import type { Bound } from '../models/bound.ts'
import type { Chain } from '../models/conversations.ts'
import type { Model, RouteStep } from '../models/model.ts'
import type { Native } from '../models/protocols/native.ts'
import type { Protocol } from '../models/protocols/protocol.ts'
import type { SignedExchange } from '../models/upstream/signed-exchange.ts'
import {
  type Chunk,
  type JsonObject,
  plainChunks,
  unreadBytes,
} from '../models/upstream/upstream.ts'
import type { RunRow } from '../storage/db/schema/schema.ts'
import { replyMax } from '../storage/idempotency/call.ts'
import type { BodyRoom, StreamRoom } from '../web/http/memory-budget.ts'
import type { FreeformCalls } from './freeform-calls.ts'
import type { RunSpan } from './run-span-port.ts'

/** Why a run was stopped before its upstream was done. */
export type StopReason =
  | 'client_gone'
  | 'cancelled'
  | 'key_revoked'
  /** The brake of its key, or of one above it, was pulled. */
  | 'brake'
  | 'account_suspended'
  | 'session_ended'
  | 'shutdown'
  /** Its answer took too long to be read to its end for a client that is gone. */
  | 'drain_deadline'
  /** It outlasted the page that waits for it. */
  | 'overdue'

/** The reasons of a stop that are ours, not the client's. */
export const isOurs: ReadonlySet<StopReason> = new Set<StopReason>(['shutdown', 'overdue'])

type Watcher = (chunks: JsonObject[] | undefined) => void

/** The parts of a request that its run keeps. */
export type KeptRequest = {
  /** The request in the shape of Chat Completions, if a step of the route is sent that. */
  body?: JsonObject | undefined
  /** The request as it came in another protocol, if a step is sent that. One of both is there. */
  native?: Native | undefined
  /** The protocol of the door where it came; Chat Completions where there is none. */
  door?: Protocol | undefined
  /** Members of what came that its reading in that shape left behind. */
  ignored?: readonly string[] | undefined
  /** The request body as received; the receipt commits to it. */
  received: Json
  trace?: Trace | undefined
  /** The id of the browser session that asks; the run ends with it. */
  session?: string | undefined
}

/** One object for the whole life of a run: what began it, its switch and who watches it. */
export abstract class LiveRun {
  /** The row that its hold makes. */
  row!: RunRow
  /** Dropped by `freeRequest`, and so is the native one. */
  body: JsonObject | undefined
  native: Native | undefined
  readonly door: Protocol
  /** Members that the shape of Chat Completions has no place for, whichever server is asked. */
  readonly unread: readonly string[]
  /** Members of what came that have no effect; of the server that is asked now, once it is. */
  ignored: readonly string[]
  /** The request as received; undefined unless the account keeps its texts. */
  received: Json | undefined
  readonly trace: Trace | undefined
  /** Undefined unless its trace is recorded. */
  span: RunSpan | undefined
  readonly session: string | undefined
  /** The id of its conversation, where its route has several steps or keys to choose from. */
  cacheId: bigint | undefined
  /** The time of its begin by {@link Clock.monotonic}. */
  startedAt = 0
  /** The time of the first byte of its answer. */
  firstByteAt: Millis | null = null
  asksReasoning = false
  /** The step of its route that was asked last, or will be asked first. */
  step: RouteStep | undefined
  /** Whether its client is gone, and its answer is read to the end all the same. */
  isDraining = false
  /** Whether the model server that is asked now got any of the request. */
  isSent = false
  /** Whether a model server failed, which is the operator's fault and not the client's. */
  hasTrouble = false
  /** Its exchange with that server, where the server signs its answers. */
  exchange: SignedExchange | undefined
  /** A finish reason of that server that is not known. */
  unknownFinish: string | undefined
  /** The id of the key that the server took, where it has several. */
  key: string | undefined
  /** The protocol of the server that is asked now, and whether the request went on as it came. */
  protocol: Protocol = 'chat'
  isNative = false
  /** The calls of freeform tools that are functions there. */
  freeform: FreeformCalls | undefined
  /** The request of a client that waits for the whole answer. Its signal may have no listener. */
  client: { readonly signal: { readonly aborted: boolean } } | undefined
  /** Its conversation, once the request was dropped. */
  conversation: Chain | undefined
  /** The memory of a large request, as the budget of all bodies counts it. */
  private room: BodyRoom | undefined
  /** The memory of what it delivered, while it is read on without its client. */
  private drainRoom: StreamRoom | undefined
  private hasEnded = false
  private readonly stopSwitch = new StopSwitch()
  private reason: StopReason | undefined
  private drainDeadline: Deadline | undefined
  /** Resolved when its reader took what was sent last. */
  private taken: PromiseWithResolvers<void> | undefined
  private watchers: Set<Watcher> | undefined
  /** The chunks of a background run so far. */
  private said: JsonObject[] | undefined

  constructor(
    readonly id: string,
    /** The model at the prices of the hour of its hold. */
    public model: Model,
    /** Raised where a model server turns out to take no limit. */
    public bound: Bound,
    /** The scope of the request's Idempotency-Key, if it had one. */
    readonly call: string | undefined,
    request: KeptRequest,
  ) {
    this.body = request.body
    this.native = request.native
    this.door = request.door ?? 'chat'
    this.unread = request.ignored ?? []
    this.ignored = this.unread
    this.received = request.received
    this.trace = request.trace
    this.session = request.session
    this.step = model.route[0]
  }

  /** How long its answer is read on when its client hangs up, in ms; 0 where that stops it. */
  protected abstract drainMs(): number

  /** Takes over the room of the request's body. */
  takeRoom(room: BodyRoom | undefined): void {
    if (!room) return
    room.isHandedOn = true
    this.room = room
  }

  /** Whether its request takes memory that others wait for. */
  get isLarge(): boolean {
    return this.room !== undefined && this.received === undefined
  }

  /**
   * Drops a large request once its answer has begun: no other server will be asked. It stays, and
   * its room with it, if the account keeps its texts.
   */
  freeRequest(): void {
    if (!this.isLarge) return
    this.body = {}
    if (this.native) this.native = { ...this.native, members: {}, encoded: [] }
    this.freeRoom()
  }

  /** Tells what it keeps while its reader takes nothing, from the length sent so far. */
  keptBytes(sent: number): number {
    return unreadBytes + this.deliveredBytes(sent)
  }

  /** Counts what it delivered until it ends, if it goes on without its reader. */
  keepOn(sent: number, room: StreamRoom | undefined): void {
    if (!this.isDraining || this.hasEnded || this.drainRoom) return
    this.drainRoom = room
    room?.hold(this.deliveredBytes(sent))
  }

  /** Others need the memory that it takes without a reader: it ends as at its deadline. */
  leave(): void {
    this.handleDeadline()
  }

  private deliveredBytes(sent: number): number {
    const isTranscribed = this.call !== undefined && sent <= replyMax
    return isTranscribed ? 2 * sent : sent
  }

  freeRoom(): void {
    this.room?.release()
    this.room = undefined
  }

  get signal(): StopSignal {
    return this.stopSwitch
  }

  /**
   * Stops the upstream; output delivered so far is charged. Only the first reason counts. A client
   * that hangs up stops nothing where its answer is read to the end.
   */
  stop(reason: StopReason): void {
    if (this.reason || (reason === 'client_gone' && this.drain())) return
    this.reason = reason
    this.drainDeadline?.clear()
    this.stopSwitch.stop()
    this.taken?.resolve()
  }

  /** Goes on without a client; false for a run that stops with it, or that no server has yet. */
  private drain(): boolean {
    if (this.isDraining) return true
    const drainMs = this.isSent && !this.hasEnded ? this.drainMs() : 0
    if (drainMs === 0) return false
    this.isDraining = true
    this.drainDeadline = deadlineIn(drainMs, this)
    this.taken?.resolve()
    return true
  }

  handleDeadline(): void {
    this.stop('drain_deadline')
  }

  /** Why it ended early: its client, if that left first and no right was lost since. */
  get endReason(): StopReason | undefined {
    const { reason } = this
    return this.isDraining && (reason === undefined || isOurs.has(reason)) ? 'client_gone' : reason
  }

  /** Resolves once its reader took what was sent, or left. One batch waits at a time. */
  untilTaken(sent: Promise<void>): Promise<void> {
    const taken = Promise.withResolvers<void>()
    this.taken = taken
    if (this.isDraining || this.reason) taken.resolve()
    sent.then(taken.resolve, taken.reject)
    return taken.promise
  }

  /** Frees what it holds beside its hold: it has ended. */
  release(): void {
    this.hasEnded = true
    this.freeRoom()
    this.drainRoom?.release()
    this.drainDeadline?.clear()
  }

  isLeft(): boolean {
    return this.stopped() !== undefined || this.isDraining
  }

  stopped(): StopReason | undefined {
    if (this.client?.signal.aborted) this.stop('client_gone')
    return this.reason
  }

  /**
   * Calls `watcher` with each batch of chunks as it is sent, and once with undefined at the end. A
   * background run replays its earlier chunks first. Returns a function that stops watching.
   */
  watch(watcher: Watcher): () => void {
    this.watchers ??= new Set()
    const { watchers, said } = this
    watchers.add(watcher)
    if (said) watcher(said)
    return () => void watchers.delete(watcher)
  }

  tell(chunks: readonly Chunk[] | undefined): void {
    const isKept = chunks !== undefined && this.row.background
    if (!isKept && !this.watchers) return
    const plain = chunks && plainChunks(chunks)
    if (isKept && plain) {
      this.said ??= []
      this.said.push(...plain)
    }
    for (const watcher of this.watchers ?? []) watcher(plain)
  }
}

/** The fields that identify a run in the server log: its id, and its trace if any. */
export const namesOf = ({ id, trace, span }: Pick<LiveRun, 'id' | 'trace' | 'span'>) => {
  const traceId = trace?.id ?? span?.traceId
  return { run_id: id, ...(traceId === undefined ? {} : { trace_id: traceId }) }
}

/** How long a client that waits for a whole answer is not listened to, in ms. */
const unheardMs = 50

export function stopWithClient(live: LiveRun, signal: StopSignal): void {
  const stop = () => live.stop('client_gone')
  if (signal.aborted) stop()
  else signal.addEventListener('abort', stop, { once: true })
}

/**
 * Stops a run when a client that waits for the whole answer leaves. It listens only after 50 ms,
 * because a listener costs more than a look at the signal when the answer is there, which
 * {@link LiveRun.stopped} takes. Clear the deadline that it returns when the run has ended.
 */
export function stopWithWaiting(live: LiveRun, request: Request): Deadline {
  live.client = request
  live.stopped()
  return deadlineIn(unheardMs, () => stopWithClient(live, request.signal))
}
