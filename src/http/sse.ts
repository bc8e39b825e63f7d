import { toErrorBody } from '../kernel/refusal.ts'
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
   * Queues ready-made frames. Answers a promise only while the client is a whole buffer behind:
   * await it before sending on. Frames for a client that is gone are dropped.
   */
  send(frames: string): Promise<void> | undefined
}

export type SseOptions = {
  /** Told of a bug in the run; a refusal is expected and not told. */
  onBug: (error: unknown) => void
  heartbeatMs?: number
  bufferBytes?: number
  writeDeadlineMs?: number
}

const defaultDeadlineMs = 30_000
const encoder = new TextEncoder()
const ping = encoder.encode(': ping\n\n')

/** One unnamed event; OpenAI's clients break on named ones. */
export const dataFrame = (json: string): string => `data: ${json}\n\n`

/** One unnamed event that a page takes for its content; `id` comes back as `Last-Event-ID`. */
export function htmlFrame(id: string, html: string): string {
  const lines = html.split(/\r\n|\r|\n/).map((line) => `data: ${line}`)
  return `id: ${id}\n${lines.join('\n')}\n\n`
}

/**
 * Answers with a stream of server-sent events that `run` writes. A silent stream carries a comment
 * every 15 s; at most 1 MiB waits for a slow client, and one that takes nothing for 30 s counts as
 * gone. What `run` throws becomes a last event `{"error":…}` after which nothing follows: no
 * `[DONE]`, so no client takes the stream for whole.
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
      // A run may stop by throwing when its client is gone. Whatever else it throws is still a bug.
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

function openStream(
  request: Request,
  { heartbeatMs = 15_000, bufferBytes = 1 << 20, writeDeadlineMs = defaultDeadlineMs }: SseOptions,
) {
  const gone = new AbortController()
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined
  let waiting: PromiseWithResolvers<void> | undefined
  let deadline: Timer | undefined
  let silent = true

  const wake = () => {
    clearTimeout(deadline)
    waiting?.resolve()
    waiting = undefined
  }
  const end = (how: (open: ReadableStreamDefaultController<Uint8Array>) => void) => {
    clearInterval(beat)
    request.signal.removeEventListener('abort', leave)
    wake()
    const open = controller
    controller = undefined
    if (open) how(open)
  }
  const leave = () => {
    gone.abort()
    end((open) => open.error(gone.signal.reason))
  }
  const put = (bytes: Uint8Array) => {
    silent = false
    controller?.enqueue(bytes)
  }
  // Half the interval: a tick that finds silence since the tick before speaks.
  const beat = setInterval(() => {
    if (silent && !waiting) put(ping)
    else silent = true
  }, heartbeatMs / 2)

  const body = new ReadableStream<Uint8Array>(
    {
      start: (opened) => {
        controller = opened
      },
      pull: wake,
      cancel: () => {
        controller = undefined
        leave()
      },
    },
    { highWaterMark: bufferBytes, size: (chunk) => chunk?.byteLength ?? 0 },
  )
  if (request.signal.aborted) leave()
  else request.signal.addEventListener('abort', leave)

  const client: SseClient = {
    signal: gone.signal,
    send: (frames) => {
      if (!controller) return undefined
      put(encoder.encode(frames))
      if ((controller.desiredSize ?? 0) > 0) return undefined
      if (waiting === undefined) {
        waiting = Promise.withResolvers()
        deadline = setTimeout(leave, writeDeadlineMs)
      }
      return waiting.promise
    },
  }
  return { body, client, close: () => end((open) => open.close()) }
}
