/**
 * A model server that costs almost nothing and always answers the same, in three
 * protocols: `bun bench/upstream.ts`.
 * The model's name chooses what it does, so it survives any gateway: `stub-l20-t64-i5` waits
 * 20 ms, then sends 64 tokens, 5 ms between them. `GET /stats` counts, `POST /reset` clears.
 */
import { type Frames, framesOf, type Protocol } from './upstream-frames.ts'

type Behaviour = { latencyMs: number; tokens: number; intervalMs: number }

type Asked = { model?: string; stream?: boolean; stream_options?: { include_usage?: boolean } }

/** What the stub has seen; `cut` streams were stopped by their reader. */
export type UpstreamStats = {
  requests: number
  streams: number
  active: number
  peak: number
  cut: number
  tokens: number
}

const stats: UpstreamStats = { requests: 0, streams: 0, active: 0, peak: 0, cut: 0, tokens: 0 }
const encoder = new TextEncoder()
const sse = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' }

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: Number(Bun.argv[2] ?? 0),
  idleTimeout: 255,
  routes: {
    '/v1/chat/completions': { POST: (request) => answer(request, 'chat') },
    '/v1/messages': { POST: (request) => answer(request, 'messages') },
    '/v1/responses': { POST: (request) => answer(request, 'responses') },
    '/stats': () => Response.json(stats),
    '/reset': {
      POST: () => {
        const zero = { requests: 0, streams: 0, peak: 0, cut: 0, tokens: 0 }
        return Response.json(Object.assign(stats, zero))
      },
    },
  },
  fetch: () => new Response('not found', { status: 404 }),
})
console.log(server.url.origin)

async function answer(request: Request, protocol: Protocol): Promise<Response> {
  const body = (await request.json()) as Asked
  stats.requests++
  const model = body.model ?? 'stub'
  const behaviour = behaviourOf(model)
  if (behaviour.latencyMs > 0) await Bun.sleep(behaviour.latencyMs)
  const frames = framesOf(protocol, model, behaviour.tokens)
  if (!body.stream) {
    stats.tokens += behaviour.tokens
    return new Response(frames.json, { headers: { 'content-type': 'application/json' } })
  }
  stats.streams++
  const last = body.stream_options?.include_usage ? frames.lastWithUsage : frames.last
  if (behaviour.intervalMs > 0) return paced(frames, last, behaviour)
  stats.tokens += behaviour.tokens
  return new Response(new Blob([frames.head, frames.token.repeat(behaviour.tokens), last]), {
    headers: sse,
  })
}

function paced(frames: Frames, last: string, { tokens, intervalMs }: Behaviour): Response {
  const token = encoder.encode(frames.token)
  let timer: ReturnType<typeof setInterval> | undefined
  let sent = 0
  stats.active++
  stats.peak = Math.max(stats.peak, stats.active)
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(encoder.encode(frames.head))
      timer = setInterval(() => {
        if (sent++ < tokens) {
          stats.tokens++
          controller.enqueue(token)
          return
        }
        clearInterval(timer)
        stats.active--
        controller.enqueue(encoder.encode(last))
        controller.close()
      }, intervalMs)
    },
    cancel() {
      clearInterval(timer)
      stats.active--
      stats.cut++
    },
  })
  return new Response(body, { headers: sse })
}

function behaviourOf(model: string): Behaviour {
  const part = (letter: string, otherwise: number) =>
    Number(new RegExp(`-${letter}(\\d+)`).exec(model)?.[1] ?? otherwise)
  return { latencyMs: part('l', 0), tokens: part('t', 16), intervalMs: part('i', 0) }
}
