import type { Json } from '../kernel/canonical.ts'
import type { ModelKind } from '../models/model.ts'

export type JsonObject = { [member: string]: Json }

/** One request to a place where models run. `body` is OpenAI-shaped, `model` its own name there. */
export type UpstreamCall = { kind: ModelKind; body: JsonObject; signal: AbortSignal }

/**
 * A place where models really run. Both calls reject with {@link UpstreamFailure} and nothing
 * else; both stop the upstream at once when `signal` aborts.
 */
export type Upstream = {
  id: string
  /** The whole answer: a `chat.completion` or an embedding list, parsed, within the size limit. */
  complete(call: UpstreamCall): Promise<JsonObject>
  /**
   * The answer as it comes: `chat.completion.chunk` objects, all of one network read at a time.
   * Resolves when the first of them is there, so until then another upstream can be tried.
   * Iteration ends after `[DONE]` (or after every choice finished and the body closed);
   * it throws when the body is cut before that, falls silent, or breaks a limit.
   */
  stream(call: UpstreamCall): Promise<AsyncIterable<JsonObject[]>>
}

/**
 * Why an upstream gave no answer. Never holds its words: they can contain its URL or key.
 * `rejected`: it refused the request itself (400, 404, 413, 422), another upstream would too.
 * `unreachable`, `error` (5xx, 401, 403, 3xx, unreadable), `busy` (429, 503), `timeout`,
 * `too_large`: another upstream may do. `cut`: it ended mid-stream. `aborted`: we stopped it.
 */
export type FailureReason =
  | 'rejected'
  | 'unreachable'
  | 'error'
  | 'busy'
  | 'timeout'
  | 'too_large'
  | 'cut'
  | 'aborted'

export class UpstreamFailure extends Error {
  constructor(
    readonly reason: FailureReason,
    /** The HTTP status it answered, if it answered. */
    readonly status?: number,
  ) {
    super(`upstream ${reason}${status === undefined ? '' : ` (status ${status})`}`)
  }
}
