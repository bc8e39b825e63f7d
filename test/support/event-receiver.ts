/** A receiver of webhooks that outlives the servers that send to it, and notes what arrives. */
import { Webhook } from 'standardwebhooks'

/** One message as it arrived. */
export type Arrival = {
  id: string
  subject: string
  body: string
  isSigned: boolean
  /** Whether it was answered with a 2xx. */
  isTaken: boolean
}

/** Takes a message, refuses it with a 503, or leaves it without an answer. */
export type Mood = 'take' | 'fail' | 'hold'

export type Receiver = ReturnType<typeof startReceiver>

/** Each webhook has a path of its own, by which its secret is found. */
export function startReceiver() {
  const secrets = new Map<string, string>()
  const arrivals: Arrival[] = []
  const waiting: { most: number; done: () => void }[] = []
  let mood: Mood = 'take'
  let released = Promise.withResolvers<void>()
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 60,
    async fetch(request) {
      const body = await request.text()
      const id = request.headers.get('webhook-id') ?? ''
      const isTaken = mood === 'take'
      const secret = secrets.get(new URL(request.url).pathname)
      const isSigned = isSignedBy(secret, body, request.headers)
      arrivals.push({ id, subject: subjectOf(body), body, isSigned, isTaken })
      for (const { most, done } of waiting) if (arrivals.length >= most) done()
      if (mood === 'hold') await released.promise
      return new Response(null, { status: isTaken ? 204 : 503 })
    },
  })
  return {
    arrivals,
    url: (path: string) => `http://127.0.0.1:${server.port}${path}`,
    trust: (path: string, secret: string) => void secrets.set(path, secret),
    become(next: Mood): void {
      mood = next
      released.resolve()
      released = Promise.withResolvers()
    },
    /** Resolves when `more` messages arrived, with the last of them not answered yet. */
    async arrived(more: number): Promise<void> {
      const { promise, resolve } = Promise.withResolvers<void>()
      waiting.push({ most: arrivals.length + more, done: resolve })
      await promise
    },
    stop: () => server.stop(true),
  }
}

function isSignedBy(secret: string | undefined, body: string, headers: Headers): boolean {
  if (secret === undefined) return false
  try {
    new Webhook(secret).verify(body, Object.fromEntries(headers))
    return true
  } catch {
    return false
  }
}

type Said = { account: string | null; data: Record<string, unknown> }

/** Events of one subject arrive in their order. */
function subjectOf(body: string): string {
  const { account, data } = JSON.parse(body) as Said
  // A run has its own order, although it names its key too.
  return String(data['run_id'] ?? data['deposit_id'] ?? data['key_id'] ?? account?.toLowerCase())
}
