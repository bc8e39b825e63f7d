/** Streams a file while it is written. */
import type { SseContext } from './sse.ts'

/** A file that is written while it is sent. */
export type Download = {
  fileName: string
  contentType: string
  /** Yields the text in pieces; `signal` aborts when the download ends, in success too. */
  open(signal: AbortSignal): AsyncIterable<string>
}

export type DownloadOptions = {
  /** Told when the file could not be written to its end. */
  onBug: (error: unknown) => void
  bufferBytes?: number
  writeDeadlineMs?: number
}

const encoder = new TextEncoder()

/**
 * Answers with a file, read only as fast as the client takes it: about 256 KiB wait for a slow one,
 * and one that takes nothing for 30 s counts as gone. A file that cannot be written to its end
 * breaks the connection, so that no client takes it for whole.
 */
export function downloadResponse(
  { request, set, server }: SseContext,
  file: Download,
  { onBug, bufferBytes = 1 << 18, writeDeadlineMs = 30_000 }: DownloadOptions,
): Response {
  const headers = takeHeaders(set, file)
  // Elysia answers HEAD by running the GET and reading its body to the end.
  if (request.method === 'HEAD') return new Response(null, { headers })
  const ended = new AbortController()
  const pieces = file.open(ended.signal)[Symbol.asyncIterator]()
  let deadline: Timer | undefined
  const end = (): void => {
    clearTimeout(deadline)
    request.signal.removeEventListener('abort', end)
    if (ended.signal.aborted) return
    ended.abort()
    void pieces.return?.()
    // From here on Bun's idle timeout guards the last bytes.
    server?.timeout(request, Math.ceil(writeDeadlineMs / 1000))
  }
  request.signal.addEventListener('abort', end)
  if (request.signal.aborted) end()
  server?.timeout(request, 0)

  const body = new ReadableStream<Uint8Array>(
    {
      pull: async (open) => {
        clearTimeout(deadline)
        try {
          const next = ended.signal.aborted ? undefined : await pieces.next()
          if (next === undefined || ended.signal.aborted) {
            open.error(new DOMException('the client is gone', 'AbortError'))
          } else if (next.done) {
            end()
            open.close()
          } else {
            open.enqueue(encoder.encode(next.value))
            deadline = setTimeout(() => {
              end()
              open.error(new DOMException('the client reads nothing', 'AbortError'))
            }, writeDeadlineMs)
          }
        } catch (error) {
          onBug(error)
          end()
          open.error(error)
        }
      },
      cancel: end,
    },
    { highWaterMark: bufferBytes, size: (piece) => piece?.byteLength ?? 0 },
  )
  return new Response(body, { headers })
}

/** Takes the headers out of the context: Elysia copies a Response that it has to merge any into. */
function takeHeaders(set: SseContext['set'], file: Download): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(set.headers)) headers[name] = String(value)
  set.headers = {}
  headers['content-type'] = file.contentType
  headers['content-disposition'] = `attachment; filename="${file.fileName}"`
  headers['x-accel-buffering'] = 'no'
  return headers
}
