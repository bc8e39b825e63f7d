/** Server-sent events. */
import { toErrorBody } from '../../kernel/refusal.ts'
import { toRefusal } from './to-refusal.ts'

/** What a stream needs of the route's context. */
export type SseContext = {
  request: Request
  set: { headers: Record<string, string | number> }
  server: { timeout(request: Request, seconds: number): void } | null
}

/** One client at the end of a stream. */
export type SseClient = {
  /** Aborts when the client is gone: it hung up, or read nothing for the write deadline. */
  signal: AbortSignal
  /**
   * Writes ready-made frames. Answers a promise only while the client is behind: await it before
   * sending on. Frames for a client that is gone are dropped.
   */
  send(frames: string): Promise<void> | undefined
}

export type SseOptions = {
  /** Told of a bug in the run; a refusal is expected and not told. */
  onBug: (error: unknown) => void
  heartbeatMs?: number
  /** The most that is kept of what is sent before there is a socket to write to. */
  bufferBytes?: number
  writeDeadlineMs?: number
}

const defaultDeadlineMs = 30_000
const ping = ': ping\n\n'

/** One unnamed event; OpenAI's clients break on named ones. */
export const dataFrame = (json: string): string => `data: ${json}\n\n`

/** One unnamed event that a page takes for its content; `id` comes back as `Last-Event-ID`. */
export function htmlFrame(id: string, html: string): string {
  const lines = html.split(/\r\n|\r|\n/).map((line) => `data: ${line}`)
  return `id: ${id}\n${lines.join('\n')}\n\n`
}

/** Answers with events that are all there already. */
export const sseAnswer = ({ set }: Pick<SseContext, 'set'>, frames: string): Response =>
  new Response(frames, { headers: takeHeaders(set) })

/**
 * Answers with a stream of server-sent events that `run` writes. A silent stream carries a comment
 * every 15 s; a slow client is waited for once the system's own buffers are full, and one that then
 * takes nothing for 30 s counts as gone. What `run` throws becomes a last event `{"error":…}` after
 * which nothing follows: no `[DONE]`, so no client takes the stream for whole.
 */
export function sseResponse(
  { request, set, server }: SseContext,
  run: (client: SseClient) => Promise<void>,
  options: SseOptions,
): Response {
  const headers = takeHeaders(set)
  // Elysia answers HEAD by running the GET and reading its body to the end, which may never come.
  if (request.method === 'HEAD') return new Response(null, { headers })
  server?.timeout(request, 0)
  const { body, client, close } = openStream(request, options)
  const requestId = headers['x-request-id'] ?? ''
  // In a later tick, so that what a run throws at once is still said in band.
  Promise.resolve(client)
    .then(run)
    .catch((error: unknown) => {
      // A run may stop by throwing when its client is gone. Any other error is a bug.
      if (client.signal.aborted && isAbort(error)) return
      const refusal = toRefusal(error)
      if (refusal.type === 'internal_error') options.onBug(error)
      client.send(dataFrame(JSON.stringify(toErrorBody(refusal, requestId))))
    })
    .finally(() => {
      // The last bytes have no run that waits for them: from here Bun's idle timeout watches.
      server?.timeout(request, Math.ceil((options.writeDeadlineMs ?? defaultDeadlineMs) / 1000))
      close()
    })
  return new Response(body, { headers })
}

const isAbort = (error: unknown): boolean =>
  error instanceof DOMException && error.name === 'AbortError'

/** Takes the headers out of the context: Elysia copies a Response that it has to merge any into. */
function takeHeaders(set: SseContext['set']): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(set.headers)) headers[name] = String(value)
  set.headers = {}
  headers['content-type'] = 'text/event-stream; charset=utf-8'
  headers['cache-control'] = 'no-store'
  headers['x-accel-buffering'] = 'no'
  return headers
}

type Sink = Pick<ReadableStreamDirectController, 'write' | 'end' | 'close'>

/**
 * A stream that is written straight into its socket, all of one turn of the event loop at once. A
 * queue of the stream's own costs a short stream more CPU, and a thousand of them more memory.
 */
function openStream(
  request: Request,
  { heartbeatMs = 15_000, bufferBytes = 1 << 20, writeDeadlineMs = defaultDeadlineMs }: SseOptions,
) {
  const gone = new AbortController()
  const over = Promise.withResolvers<void>()
  let sink: Sink | undefined
  /** What was sent before there was a socket to write to. */
  let early = ''
  let isOver = false
  let waiting: PromiseWithResolvers<void> | undefined
  let deadline: Timer | undefined
  let silent = true

  const wake = () => {
    clearTimeout(deadline)
    waiting?.resolve()
    waiting = undefined
  }
  const wait = () => {
    if (waiting) return
    waiting = Promise.withResolvers()
    deadline = setTimeout(leave, writeDeadlineMs)
  }
  const end = (how: (open: Sink) => void) => {
    clearInterval(beat)
    request.signal.removeEventListener('abort', leave)
    wake()
    isOver = true
    if (sink) how(sink)
    sink = undefined
    over.resolve()
  }
  const leave = () => {
    gone.abort()
    end((open) => open.close(gone.signal.reason))
  }
  const write = (frames: string, open: Sink) => {
    const taken: number | Promise<number> = open.write(frames)
    // A promise means that the system's own buffers are full: it holds until they took this.
    if (typeof taken === 'number') return
    wait()
    taken.then(wake, wake)
  }
  const put = (frames: string) => {
    silent = false
    if (sink) return write(frames, sink)
    early += frames
    if (early.length >= bufferBytes) wait()
  }
  // Half the interval: a tick that finds silence since the tick before speaks.
  const beat = setInterval(() => {
    if (silent && !waiting) put(ping)
    else silent = true
  }, heartbeatMs / 2)

  const source: Bun.DirectUnderlyingSource<Uint8Array> = {
    type: 'direct',
    pull(opened) {
      sink = opened
      wake()
      // A server sends its headers with the first bytes.
      write(early || ping, opened)
      early = ''
      if (isOver) end((open) => open.end())
      return over.promise
    },
    cancel: leave,
  }
  if (request.signal.aborted) leave()
  else request.signal.addEventListener('abort', leave)

  const client: SseClient = {
    signal: gone.signal,
    send: (frames) => {
      if (!isOver) put(frames)
      return waiting?.promise
    },
  }
  // The DOM's types, which this project has for its pages, do not know Bun's direct streams.
  const body = new ReadableStream<Uint8Array>(source as object)
  return { body, client, close: () => end((open) => open.end()) }
}
