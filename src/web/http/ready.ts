import type { AnyElysia } from 'elysia'
import type { Ids } from '../../kernel/ids.ts'

/** A GET that is answered before the router. */
export type Ready = {
  path: string
  /** What every answer of its route says in headers, besides its request id. */
  headers: Record<string, string>
  /** At once or later; undefined, or a failure, leaves the request to the route of the path. */
  answer(request: Request, reply: Reply): Answer | Promise<Answer>
}

type Answer = Response | undefined

export type Reply = {
  /** Those of the next answer: what is set here goes out with what is made in the same turn. */
  headers: Headers
  /** An answer with a body of JSON text, and an id of its own. */
  make(body: string): Response
}

/** A read without a key that is the same for everybody. */
export const sameForAll = (
  path: string,
  headers: Record<string, string>,
  text: () => string | Promise<string>,
): Ready => ({
  path,
  headers,
  answer(_request, { make }) {
    const body = text()
    return typeof body === 'string' ? make(body) : body.then(make)
  },
})

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
  { answer, headers: fixed }: Ready,
  { ids, isOurHost }: Front,
  leave: AnyElysia['fetch'],
): Handle {
  // Copied as it is by each answer: measured, half of what an object of headers costs.
  const headers = new Headers({ ...fixed, 'content-type': 'application/json;charset=utf-8' })
  const init = { headers }
  const make = (body: string): Response => {
    headers.set('x-request-id', ids.make('req'))
    return new Response(body, init)
  }
  const reply = { headers, make }
  return (request) => {
    if (!isOurHost(request.headers.get('host'))) return leave(request)
    try {
      const made = answer(request, reply)
      if (!(made instanceof Promise)) return made ?? leave(request)
      return made.then(
        (later) => later ?? leave(request),
        () => leave(request),
      )
    } catch {
      // Its route says what went wrong.
      return leave(request)
    }
  }
}
