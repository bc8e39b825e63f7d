/** Requests of the drills' clients, and what the clients hold in hand of each. */
import type { Server } from '../test/support/binary.ts'

/** How a run is asked for. */
export type Wish = {
  /** `/v1/chat/completions`, or `/v1/runs`, whose runs are tagged with the request. */
  door: 'chat' | 'runs'
  how: 'plain' | 'stream' | 'background'
  /** Whether with an Idempotency-Key. */
  keyed: boolean
  model: string
}

/** One request of a client and what came of it. */
export type Asked = Wish & {
  /** The Idempotency-Key where it has one; the tag of its run at `/v1/runs`. */
  id: string
  sentAt: number
  endedAt: number
  /** 0 when the connection broke. */
  status: number
  /** Why not, as the answer or the stream said it. */
  reason: string | undefined
  /** The run that a 202 named. */
  accepted: string | undefined
  /** The receipt that the head of a stream named. */
  promised: string | undefined
  paid: Paid | undefined
  /** What it was charged as, after it was asked again. */
  charged: Paid | undefined
  /** Whether that was told from memory: it had been stored before. */
  isReplayed: boolean
}

export type Paid = { runId: string; receiptId: string; cost: number }

/** Who asks: the secret of its key, and all that it asked so far. */
export type Asker = { secret: string; asked: Asked[] }

/** Answers within 5 ms. */
const usualModel = 'stub/pace-5'
const usual: Wish = { door: 'chat', how: 'plain', keyed: true, model: usualModel }

/** One run, written down. */
export async function ask(asker: Asker, server: Server, wish: Partial<Wish> = {}): Promise<Asked> {
  const asked: Asked = {
    ...usual,
    ...wish,
    id: crypto.randomUUID(),
    sentAt: performance.now(),
    endedAt: 0,
    status: 0,
    reason: undefined,
    accepted: undefined,
    promised: undefined,
    paid: undefined,
    charged: undefined,
    isReplayed: false,
  }
  asker.asked.push(asked)
  await send(asker, server, asked)
  asked.endedAt = performance.now()
  return asked
}

/** Asks, for the first time or again; false when the answer was not told from memory. */
export async function send(
  { secret }: Pick<Asker, 'secret'>,
  server: Server,
  asked: Asked,
): Promise<boolean> {
  try {
    const answer = await server.call(asked.door === 'chat' ? '/v1/chat/completions' : '/v1/runs', {
      key: secret,
      json: bodyOf(asked),
      headers: asked.keyed ? { 'idempotency-key': asked.id } : {},
      signal: AbortSignal.timeout(30_000),
    })
    asked.status = answer.status
    asked.promised = answer.headers.get('x-receipt-id') ?? undefined
    note(asked, await answer.text())
    return answer.headers.get('idempotent-replayed') === 'true'
  } catch {
    asked.status = 0
    return false
  }
}

function bodyOf({ door, how, model, id }: Asked): object {
  const text = `a drill ${id}`
  const stream = how === 'stream'
  if (door === 'chat') return { model, messages: [{ role: 'user', content: text }], stream }
  return { model, input: text, stream, background: how === 'background', tags: { ask: id } }
}

type Said = {
  id?: string
  run?: { id: string }
  receipt?: { id: string; cost_nusd: number }
  error?: { type: string; metadata?: { reason?: string } }
}

function note(asked: Asked, text: string): void {
  const isStream = asked.how === 'stream' && asked.status === 200
  for (const { id, run, receipt, error } of isStream
    ? eventsOf(text)
    : [JSON.parse(text) as Said]) {
    if (error) asked.reason = error.metadata?.reason ?? error.type
    if (asked.status === 202) asked.accepted = id
    const runId = run?.id ?? id
    if (receipt && runId) asked.paid = { runId, receiptId: receipt.id, cost: receipt.cost_nusd }
  }
}

const eventsOf = (text: string): Said[] =>
  text
    .split('\n\n')
    .filter((event) => event.startsWith('data: {'))
    .map((event) => JSON.parse(event.slice('data: '.length)))

/** Some clients, each with one run after the other, until all are done or the server is gone. */
export async function askAll(
  asker: Asker,
  server: Server,
  { clients = 4, each = 6, model = usualModel, streams = true } = {},
): Promise<Asked[]> {
  const all = await Promise.all(
    Array.from({ length: clients }, async (_, client) => {
      const mine: Asked[] = []
      for (let turn = 0; turn < each; turn++) {
        const how = streams && (client + turn) % 3 === 0 ? 'stream' : 'plain'
        const asked = await ask(asker, server, { how, model })
        mine.push(asked)
        if (asked.status === 0) break
      }
      return mine
    }),
  )
  return all.flat()
}
