/** The root app: host check, request ids, headers, errors. */
import { Elysia, NotFoundError } from 'elysia'
import type { Actor } from '../../kernel/acting.ts'
import { Refusal } from '../../kernel/refusal.ts'
import { elsewhereByShard, refuseElsewhere, type Shard, shardHeader } from '../../kernel/shard.ts'
import type { PeerSource } from './client-address.ts'
import { type ErrorDeps, errorAnswers } from './error-answers.ts'
import type { ExpectBody } from './expected-body.ts'
import { hostCheck, type Listen } from './host.ts'
import { sayFailures } from './lazy-mount.ts'
import { baseHeaders } from './standing-headers.ts'

export type RootDeps = ErrorDeps & {
  /** Public origin, as configured. */
  baseUrl: string
  listen: Listen
  /** Without it a body may take as long as it likes, and any memory. */
  expectBody?: ExpectBody
  /** Looks at each request to this host before its route. @throws Refusal */
  admit?: ((request: Request, server: PeerSource | null) => void) | undefined
}

/** The context of a failed request: `acting` is set behind a guard that found a session. */
type FailedRequest = {
  error: unknown
  request: Request
  set: { headers: Record<string, unknown>; status?: number | string }
  acting?: Actor
}

/**
 * The root of the service: every door is mounted on what this returns. It checks the Host before
 * any route is looked up, gives every answer its request id and the headers of a JSON API, and
 * turns every error into the one error shape.
 */
export const makeRoot = (deps: RootDeps) => {
  const { baseUrl, listen, ids, admit, expectBody, shard } = deps
  const isOurHost = hostCheck(baseUrl, listen)
  const answerError = errorAnswers(deps)
  const app = new Elysia({
    // A route is put together when it is first asked for: all of them are a fifth of a start.
    precompile: false,
    strictPath: true,
    normalize: false,
    // Bun's own router would let `:id` take GET /v1/receipts/verify, which is a 405.
    systemRouter: false,
    // Else a base_url with a host of three letters would lose the start of every path.
    handler: { standardHostname: false },
  })
    .onRequest(({ request, server, set }) => {
      // One new object: measured, it costs less than setting five headers one by one.
      // A declaration stands first because Elysia takes `=>{name(` for an asynchronous hook.
      const headers = baseHeaders(ids.make('req'))
      set.headers = headers
      if (!isOurHost(request.headers.get('host'))) throw new Refusal('misdirected_request')
      assertMeant(shard, request)
      if (!hasReadablePath(request.url)) throw new NotFoundError()
      expectBody?.(request, server)
      admit?.(request, server)
    })
    .onError({ as: 'global' }, ({ error, request, set, acting }: FailedRequest) => {
      const { status, headers, body } = answerError(error, request, set.headers, acting)
      set.status = status
      set.headers = headers
      return body
    })
  sayFailures(app, (request, failure) => {
    const isOurs = isOurHost(request.headers.get('host'))
    const error = isOurs ? failure : new Refusal('misdirected_request')
    const { body, ...init } = answerError(error, request, {})
    return typeof body === 'string' ? new Response(body, init) : Response.json(body, init)
  })
  return app
}

/** @throws Refusal `misdirected_request` for a request that names another shard */
function assertMeant(shard: Shard | undefined, { headers }: Request): void {
  const other = shard && elsewhereByShard(shard, headers.get(shardHeader) ?? '')
  if (other !== undefined) refuseElsewhere(other)
}

/** Whether the path's escapes are UTF-8; of others Elysia makes parameters that are `null`. */
function hasReadablePath(url: string): boolean {
  if (!url.includes('%')) return true
  try {
    decodeURIComponent(url.split('?', 1)[0] ?? '')
    return true
  } catch {
    return false
  }
}
