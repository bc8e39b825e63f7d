/**
 * A model server that costs almost nothing and always answers the same: `bun bench/upstream.ts`.
 * The model's name chooses what it does, so it survives any gateway: `stub-l20-t64-i5` waits
 * 20 ms, then sends 64 tokens, 5 ms between them. `GET /stats` counts, `POST /reset` clears.
 */
type Behaviour = { latencyMs: number; tokens: number; intervalMs: number }

type Chat = { model?: string; stream?: boolean; stream_options?: { include_usage?: boolean } }

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
const promptTokens = 8

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: Number(Bun.argv[2] ?? 0),
  idleTimeout: 255,
  routes: {
    '/v1/chat/completions': { POST: async (request) => answer((await request.json()) as Chat) },
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

async function answer(body: Chat): Promise<Response> {
  stats.requests++
  const model = body.model ?? 'stub'
  const behaviour = behaviourOf(model)
  if (behaviour.latencyMs > 0) await Bun.sleep(behaviour.latencyMs)
  const frames = framesOf(model, behaviour.tokens)
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

type Frames = { head: string; token: string; last: string; lastWithUsage: string; json: string }

const known = new Map<string, Frames>()

function framesOf(model: string, tokens: number): Frames {
  const found = known.get(model)
  if (found) return found
  const usage = {
    prompt_tokens: promptTokens,
    completion_tokens: tokens,
    total_tokens: promptTokens + tokens,
  }
  const base = { id: 'chatcmpl-stub', created: 1_795_222_222, model }
  const chunk = (fields: object) =>
    `data: ${JSON.stringify({ ...base, object: 'chat.completion.chunk', ...fields })}\n\n`
  const choice = (delta: object, finish_reason: string | null) => ({
    choices: [{ index: 0, delta, finish_reason }],
  })
  const finish = chunk(choice({}, 'stop'))
  const done = 'data: [DONE]\n\n'
  const message = { role: 'assistant', content: ' token'.repeat(tokens) }
  const frames = {
    head: chunk(choice({ role: 'assistant', content: '' }, null)),
    token: chunk(choice({ content: ' token' }, null)),
    last: finish + done,
    lastWithUsage: finish + chunk({ choices: [], usage }) + done,
    json: JSON.stringify({
      ...base,
      object: 'chat.completion',
      choices: [{ index: 0, message, logprobs: null, finish_reason: 'stop' }],
      usage,
    }),
  }
  known.set(model, frames)
  return frames
}
