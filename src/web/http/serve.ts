/** Serves an app over HTTP. */
import type { AnyElysia } from 'elysia'
import type { Listen } from './host.ts'
import { answerFailure, restToMount } from './lazy-mount.ts'
import { isForPrograms } from './paths.ts'

/** Seconds without a byte after which Bun closes a connection; streams turn it off. */
export const idleTimeoutSeconds = 120

/**
 * Serves an app whose routes are all mounted. Not by `app.listen`: that adds Bun's router with its
 * own reading of paths, shares a taken port silently, and shows errors in development mode.
 */
export function serve(app: AnyElysia, listen: Listen): Bun.Server<undefined> {
  const server = serveRequests(() => new Response(null, { status: 503 }), listen)
  serveApp(server, app)
  return server
}

/** How an app, all of whose routes are mounted, answers what a server took. */
export function answersOf(app: AnyElysia, server: Bun.Server<undefined>): AnyElysia['fetch'] {
  app.compile()
  app.server = server
  return app.fetch
}

/** From the next request on, what listens already answers with this app. */
export function serveApp(server: Bun.Server<undefined>, app: AnyElysia): void {
  answersOf(app, server)
  server.reload({ ...answering, fetch: wholeFetch(server, app) })
}

/**
 * The first request for an unmounted route mounts the rest; after a failure the next one retries.
 */
function wholeFetch(server: Bun.Server<undefined>, app: AnyElysia): AnyElysia['fetch'] {
  const rest = restToMount(app)
  const answer = app.fetch
  if (!rest) return answer
  let arriving: Promise<void> | undefined
  return (request) => {
    if (isForPrograms(request.url)) return answer(request)
    arriving ??= rest()
      .then(() => serveApp(server, app))
      .catch((error: unknown) => {
        arriving = undefined
        throw error
      })
    return arriving.then(
      () => app.fetch(request),
      (error: unknown) => answerFailure(app, request, error),
    )
  }
}

const answering = {
  development: false,
  error: () => new Response(null, { status: 500 }),
} as const

/** Listens, and writes back the port that a `listen` with port 0 became. */
export function serveRequests(
  fetch: (request: Request) => Response | Promise<Response>,
  listen: Listen,
): Bun.Server<undefined> {
  const server = Bun.serve({
    ...answering,
    hostname: listen.hostname,
    port: listen.port,
    idleTimeout: idleTimeoutSeconds,
    // Without development mode Bun silently shares a port that is taken.
    reusePort: false,
    // Bun's own 413 comes before the Host is checked and has no body: `readText` counts instead.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    fetch,
  })
  if (server.port !== undefined) listen.port = server.port
  return server
}
