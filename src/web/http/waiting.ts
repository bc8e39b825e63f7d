/** Answers while the service is starting. */
import type { AnyElysia } from 'elysia'
import type { Ids } from '../../kernel/ids.ts'
import { Refusal, toErrorBody } from '../../kernel/refusal.ts'
import type { Listen } from './host.ts'
import { serveApp, serveRequests } from './serve.ts'

/** The steps of a start before it takes traffic. */
export type Phase = 'starting' | 'migrating' | 'database' | 'clock' | 'checking'

/** A listener that says how far the start is until there is something to serve. */
export type WaitingQueue = {
  enter(phase: Phase): void
  /** Serves an app whose routes are all mounted, from the next request on. */
  serve(app: AnyElysia): Pick<Bun.Server<undefined>, 'stop'>
  /** For a start that failed. */
  close(): Promise<void>
}

/**
 * Listens from the first moment, so that a supervisor does not take a long migration for a dead
 * process: `/livez` is 200, `/readyz` and every other path 503 with the reason. Nothing is decided
 * here, so no Host is looked at.
 */
export function listenEarly(listen: Listen, ids: Ids): WaitingQueue {
  let phase: Phase = 'starting'
  const server = serveRequests((request) => answerWaiting(request, phase, ids), listen)
  return {
    enter(next) {
      phase = next
    },
    serve(app) {
      serveApp(server, app)
      return server
    },
    close: () => server.stop(true),
  }
}

const words: Record<Phase, string> = {
  starting: 'The server is starting.',
  migrating: 'The database is being upgraded to this release.',
  database: 'The database cannot be reached yet. The server goes on by itself when it is there.',
  clock: 'The clock of this server is wrong. The server goes on by itself when it is set.',
  checking: 'The ledger, the log and the chain are being checked.',
}

/** The answer to a request that comes before the service. */
export function answerWaiting(request: Request, phase: Phase, ids: Ids): Response {
  const requestId = ids.make('req')
  const headers = {
    'x-request-id': requestId,
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
    'retry-after': '1',
  }
  if (URL.parse(request.url)?.pathname === '/livez') {
    return Response.json({ status: 'ok' }, { headers })
  }
  const detail = { message: words[phase], metadata: { reason: phase } }
  const body = toErrorBody(new Refusal('unavailable', detail), requestId)
  return Response.json(body, { status: 503, headers })
}
