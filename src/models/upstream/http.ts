/** HTTP by `fetch`: one outbound exchange with deadlines and size limits. */
import { type Deadline, deadlineIn } from '../../kernel/deadline.ts'
import type { StopSignal } from '../../kernel/stop.ts'
import { reachTroubleOf } from './reach-trouble.ts'
import { type ChunkTaker, type FailureReason, type SentMark, UpstreamFailure } from './upstream.ts'

/** How long and how much one exchange may take. Times in milliseconds, sizes in decoded bytes. */
export type HttpLimits = {
  /** The time from the call to the answer's headers, connecting included. */
  firstByteMs: number
  /** The longest silence of the other side while we wait for more of its body. */
  idleMs: number
  /** The whole exchange; may be infinite. */
  totalMs: number
  /** A body that is read whole. */
  answerBytes: number
  /** A body that is read as it comes. */
  streamBytes: number
}

export const defaultHttpLimits: HttpLimits = {
  firstByteMs: 60_000,
  idleMs: 60_000,
  totalMs: 600_000,
  answerBytes: 16 * 1024 * 1024,
  streamBytes: 64 * 1024 * 1024,
}

export type HttpRequest = {
  url: string
  /** `POST` unless told otherwise. */
  method?: string
  headers?: Record<string, string>
  body?: string
  signal: StopSignal
  limits?: HttpLimits
  /** False: the connection serves this request alone. */
  keepalive?: boolean
}

/** How long an answer that said all may take to end its body, in ms. */
const endWithinMs = 1000

/** An answer whose body was not read yet. Read it by one of the two, or stop it. */
export type HttpAnswer = {
  status: number
  headers: Headers
  /** The whole body. A body that breaks off is an `error`: none of it was used. */
  text(): Promise<string>
  /** The next bytes, undefined at the end. A body that breaks off is a `cut`. */
  read(): Promise<Uint8Array | undefined>
  /** All that was wanted came: a body that ends now leaves its connection to the next request. */
  end(): void
  /** Lets go of the connection, at any time and any number of times. */
  stop(): void
}

/** An answer that can also be pushed to its reader. */
export type WireAnswer = Omit<HttpAnswer, 'headers'> & {
  /** The time until its server may be asked again, in ms, where it says so. */
  retryAfterMs?: number | undefined
  /**
   * Passes each piece to `take` until the body ends or `take` returns false; waits for its promise.
   * @throws UpstreamFailure as `read` does, or the error of `take`
   */
  flow(take: ChunkTaker<Uint8Array>): Promise<void>
  /** The bytes that had come and were not read when it was stopped, where that can be told. */
  left?(): Uint8Array | undefined
}

/** One request to a {@link Wire}. */
export type WireRequest = {
  /** The account of the request. Connections are never shared between accounts. */
  account: string
  headers: Readonly<Record<string, string>>
  body: string
  signal: StopSignal
  mark?: SentMark | undefined
  limits: HttpLimits
}

/** A URL that is posted to. */
export type Wire = {
  /** @throws UpstreamFailure and nothing else, as `request` does */
  ask(request: WireRequest): Promise<WireAnswer>
}

/**
 * One outbound HTTP exchange, the only way this program calls another server. A redirect is a
 * failure, so credentials in `headers` reach the host of `url` and no other.
 * @throws UpstreamFailure and nothing else.
 */
export async function request(options: HttpRequest): Promise<HttpAnswer> {
  const { url, method = 'POST', headers, body, limits = defaultHttpLimits } = options
  const { keepalive = true } = options
  if (options.signal.aborted) throw new UpstreamFailure('aborted')
  const watch = watchOver(options.signal, limits)
  try {
    const response = await fetch(url, {
      method,
      headers: { ...headers, 'accept-encoding': 'identity' },
      body,
      redirect: 'manual',
      signal: watch.signal,
      keepalive,
      // Said aloud, because an environment variable could switch the default off.
      ...(url.startsWith('https:') ? { tls: { rejectUnauthorized: true } } : {}),
    })
    watch.answered()
    const answer = toAnswer(response, watch, limits)
    if (response.status < 300 || response.status > 399) return answer
    answer.stop()
    throw new UpstreamFailure('error', { status: response.status })
  } catch (error) {
    throw watch.fail(error, 'unreachable')
  }
}

/** The clocks of one exchange and its one abort switch. Remembers the first reason to stop. */
type Watch = {
  signal: AbortSignal
  answered(): void
  /** Runs the idle clock from here to {@link Watch.heard}. */
  listen(): void
  heard(): void
  /** Ends the exchange and names why; `otherwise` when it was none of our own reasons. */
  fail(error: unknown, otherwise: FailureReason): UpstreamFailure
  /** The body is over: nothing to abort any more. */
  done(): void
  stop(reason: FailureReason): void
}

function watchOver(caller: StopSignal, limits: HttpLimits): Watch {
  const controller = new AbortController()
  let why: FailureReason | undefined
  let waiting = false
  let idle: Deadline | undefined
  const stop = (reason: FailureReason) => {
    why ??= reason
    done()
    controller.abort()
  }
  const onAbort = () => stop('aborted')
  const firstByte = deadlineIn(limits.firstByteMs, () => stop('timeout'))
  const { totalMs } = limits
  const total = Number.isFinite(totalMs) ? deadlineIn(totalMs, () => stop('too_long')) : undefined
  const done = () => {
    firstByte.clear()
    total?.clear()
    idle?.clear()
    caller.removeEventListener('abort', onAbort)
  }
  const onIdle = () => {
    // While our reader is slow, the other side is not silent.
    if (waiting) stop('timeout')
  }
  caller.addEventListener('abort', onAbort, { once: true })
  return {
    signal: controller.signal,
    answered: () => firstByte.clear(),
    listen() {
      waiting = true
      if (idle === undefined) idle = deadlineIn(limits.idleMs, onIdle)
      else idle.refresh()
    },
    heard() {
      waiting = false
    },
    fail(error, otherwise) {
      if (error instanceof UpstreamFailure) {
        stop(error.reason)
        return error
      }
      stop(otherwise)
      return new UpstreamFailure(why ?? otherwise, { trouble: reachTroubleOf(error) })
    },
    done,
    stop,
  }
}

function toAnswer(response: Response, watch: Watch, limits: HttpLimits): HttpAnswer {
  let reader: ReturnType<typeof readerOf> | undefined
  let bytesRead = 0
  let over: UpstreamFailure | 'ended' | undefined

  async function read(limit: number): Promise<Uint8Array | undefined> {
    if (over === 'ended') return undefined
    if (over) throw over
    try {
      // Bytes that already arrived must not go out after the caller gave up.
      watch.signal.throwIfAborted()
      reader ??= readerOf(response)
      watch.listen()
      const bytes = (await reader?.read())?.value
      watch.heard()
      if (over) throw over
      if (bytes === undefined) {
        over = 'ended'
        watch.done()
        return undefined
      }
      bytesRead += bytes.length
      if (bytesRead > limit) throw new UpstreamFailure('too_large')
      return bytes
    } catch (error) {
      over = watch.fail(error, 'cut')
      letGo()
      throw over
    }
  }

  function letGo(): void {
    const gone = reader ? reader.cancel() : response.body?.cancel()
    gone?.catch(ignore)
  }

  async function readWhole(): Promise<string> {
    if (isSmall(response.headers)) {
      watch.listen()
      return await response.text()
    }
    const decoder = new TextDecoder()
    let text = ''
    for (;;) {
      const bytes = await read(limits.answerBytes)
      if (bytes === undefined) return text + decoder.decode()
      text += decoder.decode(bytes, { stream: true })
    }
  }

  return {
    status: response.status,
    headers: response.headers,
    read: () => read(limits.streamBytes),
    async text() {
      try {
        const text = await readWhole()
        watch.done()
        return text
      } catch (error) {
        const failure = watch.fail(error, 'error')
        throw failure.reason === 'cut' ? new UpstreamFailure('error') : failure
      }
    },
    end() {
      if (over) return
      const tooLong = deadlineIn(endWithinMs, stop)
      read(limits.streamBytes)
        .then((more) => more && stop(), ignore)
        .finally(() => tooLong.clear())
    },
    stop,
  }

  function stop(): void {
    if (over) return
    over = new UpstreamFailure('aborted')
    watch.stop('aborted')
    letGo()
  }
}

/** Handles the rejection of `closed`, which is not awaited. */
function readerOf(response: Response) {
  const reader = response.body?.getReader()
  reader?.closed.catch(ignore)
  return reader
}

/** Whether the body is plain and declared short, so that its size needs no counting. */
function isSmall(headers: Headers): boolean {
  const length = headers.get('content-length')
  return length !== null && Number(length) <= 65_536 && headers.get('content-encoding') === null
}

function ignore(): void {}
