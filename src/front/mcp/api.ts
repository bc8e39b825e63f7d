/** POST /mcp: the tools of the service over streamable HTTP. */
import { Elysia } from 'elysia'
import { callerOf } from '../../access/keys/needs-key.ts'
import type { Deps } from '../../app/deps-port.ts'
import { refuse } from '../../kernel/refusal.ts'
import { told } from '../../verify/checks.ts'
import { repeatedMembers } from '../../verify/json-text.ts'
import { readHeldJson } from '../../web/http/body.ts'
import { actFor } from '../../web/http/client-address.ts'
import { noteAccount, takesRoom } from '../../web/http/expected-body.ts'
import { hostCheck } from '../../web/http/host.ts'
import { keylessGuard } from '../../web/http/keyless.ts'
import { retryAdvice } from '../../web/http/refusal-headers.ts'
import { idleTimeoutSeconds } from '../../web/http/serve.ts'
import type { CallSender } from './api/mcp-server.ts'

/**
 * `POST /mcp`: the tools of the service by the Model Context Protocol (streamable HTTP), without
 * sessions, so that every request is whole and any node answers it. Each call of a tool is a
 * request to `/v1` with the caller's own Authorization and address: what a key may, and what it
 * is limited to, is decided there and nowhere else.
 */
export const mcpApi = (deps: Deps, handle: (request: Request) => Promise<Response>) => {
  const { settings, log, version } = deps
  const isOurHost = hostCheck(settings.baseUrl, settings.listen)
  const ask: CallSender = ({ method, path, body, headers }, outer) => {
    const asked = new Request(settings.baseUrl + path, {
      method,
      headers: { ...headers, ...passedOn(outer, settings.baseUrl) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      // A client that hangs up stops its run, as under `/v1`.
      signal: outer.signal,
    })
    actFor(asked, outer)
    return handle(asked)
  }
  // Most servers are never asked, so it loads at the first request.
  const load = async () => {
    const { mcpServer } = await import('./api/mcp-server.ts')
    return mcpServer({ ask, log, version: version.version })
  }
  let loading: ReturnType<typeof load> | undefined
  return new Elysia({ name: 'mcp-api' }).use(keylessGuard(deps)).post(
    '/mcp',
    async ({ request, server, set }) => {
      assertOrigin(request, isOurHost)
      if (takesRoom(request)) {
        const caller = await callerOf(deps.keys, request)
        if (caller) noteAccount(request, caller.account)
      }
      const limits = { limitBytes: settings.bodyBytes }
      const { value, text, room } = await readHeldJson(request, limits)
      try {
        assertNoneRepeated(text)
        loading ??= load()
        const { fetch: speak } = await loading
        // A run may take longer than a connection may be silent.
        server?.timeout(request, 0)
        const answer = await speak(request, { parsedBody: value })
        server?.timeout(request, idleTimeoutSeconds)
        return withHeaders(answer, set)
      } finally {
        room?.release()
      }
    },
    { isKeyless: true, parse: 'none' },
  )
}

/**
 * A tool gets the value of the body, in which a member that was given twice no longer shows.
 * @throws Refusal 'invalid_request'
 */
function assertNoneRepeated(text: string): void {
  const path = repeatedMembers(text)[0]?.path
  if (path !== undefined) refuse('invalid_request', `The body has the member ${told(path)} twice.`)
}

/** What of a request to `/mcp` also belongs to the request that it leads to. */
function passedOn({ headers }: Request, baseUrl: string): Record<string, string> {
  const authorization = headers.get('authorization')
  return {
    host: new URL(baseUrl).host,
    'content-type': 'application/json',
    ...(authorization === null ? {} : { authorization }),
  }
}

/**
 * Only pages of our own origin may come here from a browser: a name that a stranger points to this
 * machine would be another one (DNS rebinding).
 * @throws Refusal 'csrf_failed'
 */
function assertOrigin({ headers }: Request, isOurHost: (host: string) => boolean): void {
  const origin = headers.get('origin')
  if (origin === null) return
  const host = URL.parse(origin)?.host
  if (host !== undefined && isOurHost(host)) return
  refuse('csrf_failed', 'Web pages of other origins may not use /mcp. Send no Origin.')
}

/** Elysia copies a Response that it has to merge any headers into. */
function withHeaders(
  answer: Response,
  set: { headers: Record<string, string | number> },
): Response {
  const all = { ...set.headers, ...retryAdvice(answer.status) }
  for (const [name, value] of Object.entries(all)) {
    answer.headers.set(name, String(value))
  }
  set.headers = {}
  return answer
}
