/** A place where models run, and how it fails. */
import type { JsonObject } from '../../kernel/json-object.ts'
import type { StopSignal } from '../../kernel/stop.ts'
import type { Trace } from '../../kernel/trace.ts'
import type { ModelKind } from '../meter.ts'
import { NativeEvent } from '../native-event.ts'
import type { Protocol } from '../protocols/protocol.ts'
import { TextFrames } from '../text-frames.ts'
import type { KeyHealth } from './key-health.ts'
import type { Latencies } from './latencies.ts'
import type { Fault } from './operator-fault.ts'
import type { ReachTrouble } from './reach-trouble.ts'
import type { ServerDialects } from './server-dialects.ts'
import type { EvidenceSource, SignedExchange } from './signed-exchange.ts'

export type { JsonObject }

/** Is told what becomes of a request. */
export type SentMark = {
  /** Whether any byte of it went out to the upstream: from then on it may be at work. */
  isSent: boolean
  /** The exchange with an upstream that signs its answers, once one began. */
  exchange?: SignedExchange | undefined
  /** A finish reason of its answer that is not known. */
  unknownFinish?: string | undefined
  /** The id of the key that was taken, where its upstream has several. */
  key?: string | undefined
  /** Whether its client is gone, so that no other key is asked. */
  isLeft?(): boolean
}

/** One request to a place where models run. */
export type UpstreamCall = {
  kind: ModelKind
  /** The request in the upstream's own protocol; `model` is its own name there. */
  body: JsonObject
  /** Whether the answer comes back as it is, and not in the shape of Chat Completions. */
  isNative?: boolean
  /** Members that the server does not take, of those that ask for a stream. */
  without?: readonly string[] | undefined
  /** Headers of the caller that the upstream's protocol knows. */
  passed?: Readonly<Record<string, string>> | undefined
  /** The account that the request is for: upstreams are shared fairly. */
  account: string
  /** The id of its run, for the ids that its answer lacks. */
  run?: string
  /** The trace of the run; sent only to upstreams that the operator named. */
  trace?: Trace | undefined
  /** Is told when any of it was sent. */
  mark?: SentMark | undefined
  /** The id of the key to ask by, where its upstream has several and it does not rest. */
  key?: string | undefined
  signal: StopSignal
}

/** The question of {@link Upstream.countTokens}. */
export type CountCall = Pick<UpstreamCall, 'account' | 'body' | 'passed' | 'signal'>

/**
 * A place where models really run. Both calls reject with {@link UpstreamFailure} and nothing
 * else; both stop the upstream at once when `signal` aborts.
 */
export type Upstream = {
  id: string
  /** The protocol that it speaks, and that the shape of its reported usage belongs to. */
  protocol: Protocol
  /** The whole answer: a `chat.completion` or an embedding list, parsed, within the size limit. */
  complete(call: UpstreamCall): Promise<JsonObject>
  /**
   * The answer as it comes: `chat.completion.chunk` objects, all of one network read at a time.
   * Resolves when the first of them is there, so until then another upstream can be tried.
   * Iteration ends after `[DONE]` (or after every choice finished and the body closed);
   * it throws when the body is cut before that, falls silent, or breaks a limit.
   */
  stream(call: UpstreamCall): Promise<Chunks>
  /**
   * The tokens that it would read of a request in its own protocol, which costs nothing. Undefined
   * when it does not tell within seconds, or is asked too often at once: it is asked one time,
   * takes no place of a run, and neither fails nor heals the circuit. Never rejects.
   */
  countTokens?(call: CountCall): Promise<number | undefined>
  /** The parts of the protocol that its models take. */
  dialects?: ServerDialects | undefined
  /** The place of its signatures, if it signs its answers. */
  evidence?: EvidenceSource | undefined
  /** Its slots, if they are limited: taken, waited for, and in all. */
  load?(): { taken: number; waiting: number; most: number }
  /**
   * The state of its circuit breaker. `retryAfterMs`: ms until a request of this account may pass;
   * without an account, of one that failed.
   */
  breaker?(account?: string): { state: BreakerState; retryAfterMs: number }
  /** That it does not take our key or account; undefined while it does. */
  fault?(): Fault | undefined
  /** Its mean times to a first token. */
  latencies?: Latencies
  /** Its keys, where it has several. */
  keys?(): readonly KeyHealth[]
  /** Whether a key of it is there for a model, by its own name. */
  isReady?(model: string): boolean
}

/**
 * `closed`: all requests pass. `open`: only probes of accounts that did not fail pass.
 * `half_open`: the cooldown is over, and one probe of the others may pass too.
 */
export type BreakerState = 'closed' | 'open' | 'half_open'

/** The most bytes of a stream that wait unread: a buffer, and one read of its socket. */
export const unreadBytes = 768 * 1024

/** Takes a piece; false stops the stream. One that was stopped may pass on what had come. */
export type ChunkTaker<T> = (piece: T) => boolean | Promise<boolean>

/** A `chat.completion.chunk`, several of them that differ only in their text, or a native event. */
export type Chunk = JsonObject | TextFrames | NativeEvent

/** The chunks of one network read; `isLast` where the end of the stream came with them. */
export type Batch = Chunk[] & { isLast?: boolean }

/** Whether a chunk is one by itself, in the shape of Chat Completions. */
export const isPlain = (chunk: Chunk): chunk is JsonObject =>
  !(chunk instanceof TextFrames) && !(chunk instanceof NativeEvent)

/** Lists chunks one by one, in the shape of Chat Completions. */
export const plainChunks = (chunks: readonly Chunk[]): JsonObject[] =>
  chunks.flatMap((chunk) => {
    if (chunk instanceof TextFrames) return chunk.chunks()
    if (chunk instanceof NativeEvent) return chunk.chunk ? [chunk.chunk] : []
    return [chunk]
  })

export type Chunks = AsyncIterable<Batch> & {
  /** Does as {@link takeEach}, without an object that waits for the next batch. */
  each?(take: ChunkTaker<Batch>): Promise<void>
}

/** Hands on each batch of a stream, until it ends or `take` says false, which leaves it. */
export const takeEach = (chunks: Chunks, take: ChunkTaker<Batch>): Promise<void> =>
  chunks.each ? chunks.each(take) : iterate(chunks, take)

async function iterate(chunks: Chunks, take: ChunkTaker<Batch>): Promise<void> {
  for await (const batch of chunks) {
    const more = take(batch)
    if (typeof more === 'boolean' ? !more : !(await more)) return
  }
}

/**
 * Why an upstream gave no answer.
 * `rejected`: it refused the request itself (400, 404, 413, 422), another upstream would too.
 * `denied`: it does not take our key, or our account there (401, 402, 403).
 * `context`: it refused it because the request does not fit into the context of its model.
 * `unreachable`, `error` (5xx, 3xx, unreadable), `busy` (429, 503), `timeout`,
 * `too_large`, `too_long` (it went on for longer than it may), `open` (its
 * circuit is open): another upstream may do. `share`: it has slots left, but not for this account.
 * `limited`: all keys of ours there rest, one of them after 429.
 * `cut`: it ended mid-stream. `aborted`: we stopped it.
 */
export type FailureReason =
  | 'rejected'
  | 'denied'
  | 'context'
  | 'unreachable'
  | 'error'
  | 'busy'
  | 'share'
  | 'limited'
  | 'timeout'
  | 'too_long'
  | 'too_large'
  | 'open'
  | 'cut'
  | 'aborted'

/** The words of a model server that refuses a request, without a secret, address or host. */
export type ServerWords = {
  /** The message, at most 500 printable characters. */
  message: string
  code?: string | undefined
  /** The member of the request that it names. */
  param?: string | undefined
  /** Whether the operator lets clients read them. */
  isRelayed: boolean
}

type FailureDetail = {
  /** The HTTP status it answered, if it answered. */
  status?: number | undefined
  /** The time until it may be asked again, in ms. */
  retryAfterMs?: number | undefined
  /** The server's name for the error, for the operator's log. */
  code?: string | undefined
  words?: ServerWords | undefined
  /** Whether a limit refused this request alone, because of its size. */
  isOfRequest?: boolean
  /** Why it was not reached, where that can be told. */
  trouble?: ReachTrouble | undefined
}

export class UpstreamFailure extends Error {
  readonly status: number | undefined
  readonly retryAfterMs: number | undefined
  readonly code: string | undefined
  /** The words of its server, where the client can mend the cause. */
  readonly words: ServerWords | undefined
  readonly isOfRequest: boolean
  readonly trouble: ReachTrouble | undefined

  constructor(
    readonly reason: FailureReason,
    { status, retryAfterMs, code, words, isOfRequest, trouble }: FailureDetail = {},
  ) {
    super(`upstream ${reason}${status === undefined ? '' : ` (status ${status})`}`)
    this.status = status
    this.retryAfterMs = retryAfterMs
    this.code = code
    this.words = words
    this.isOfRequest = isOfRequest === true
    this.trouble = trouble
  }
}
