import type { AnyElysia } from 'elysia'
import type { Ids } from '../kernel/ids.ts'

/** A GET that is answered before the router: its path, and its body as JSON text. */
export type Ready = {
  path: string
  /** What every answer of its route says in headers, besides its request id. */
  headers: Record<string, string>
  /**
   * At once or later; undefined, or a failure, leaves the request to the route of the same path.
   * What it sets on `headers` in the same turn as it gives the text goes out with it.
   */
  text(request: Request, headers: Headers): Text | Promise<Text>
}

type Text = string | undefined

type Front = { ids: Ids; isOurHost: (host: string | null) => boolean }

type Handle = (request: Request) => Response | Promise<Response>

const readyOf = new WeakMap<AnyElysia, { reads: readonly Ready[]; front: Front }>()

/** Notes what an app answers before its router, whose work would be most of the cost. */
export function answerReady(app: AnyElysia, reads: readonly Ready[], front: Front): void {
  readyOf.set(app, { reads, front })
}

/** GETs of exactly these paths as routes of `Bun.serve`, which finds them without a URL. */
export function readyRoutes(app: AnyElysia): Record<string, { GET: Handle }> {
  const { reads, front } = readyOf.get(app) ?? {}
  if (!reads || !front) return {}
  return Object.fromEntries(
    reads.map((read) => [read.path, { GET: handlerOf(read, front, app.fetch) }]),
  )
}

function handlerOf(
  { text, headers }: Ready,
  { ids, isOurHost }: Front,
  leave: AnyElysia['fetch'],
): Handle {
  // Copied as it is by each answer: measured, half of what an object of headers costs.
  const made = new Headers({ ...headers, 'content-type': 'application/json;charset=utf-8' })
  const init = { headers: made }
  const answer = (body: string): Response => {
    made.set('x-request-id', ids.make('req'))
    return new Response(body, init)
  }
  return (request) => {
    try {
      if (isOurHost(request.headers.get('host'))) {
        const body = text(request, made)
        if (typeof body === 'string') return answer(body)
        if (body !== undefined) {
          return body.then(
            (later) => (later === undefined ? leave(request) : answer(later)),
            () => leave(request),
          )
        }
      }
    } catch {
      // Its route says what went wrong.
    }
    return leave(request)
  }
}
