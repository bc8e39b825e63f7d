import type { Server } from '../test/support/binary.ts'
import { pacedModels } from '../test/support/paced-upstream.ts'

/** What clients hold in hand of the runs they asked for. */
export type Seen = {
  /** By receipt: an answer came whole, and said what it cost. */
  paid: Map<string, { runId: string; cost: number }>
  /** Runs of which a client saw anything at all, with the receipt its headers promised. */
  begun: Map<string, string | undefined>
}

export const nothingSeen = (): Seen => ({ paid: new Map(), begun: new Map() })

const workers = 24

/** The paced upstream's models. It is this process: a busy one is no reason to leave it alone. */
export const drilledModels = (url: string): string =>
  pacedModels(url).replace('[[models]]', 'breaker_failures = 0\n\n[[models]]')

/** Rates that nothing here runs into. */
export const roomy = `
[limits]
rpm = 10_000_000
concurrency = 100_000

[[plans]]
id = "free"
limits = { rpm = 10_000_000, concurrency = 100_000 }
`

/**
 * Runs of every sort, until the server is gone: plain, streamed, native and in the background,
 * of models that answer within 5 to 300 ms. Notes only what was answered.
 */
export async function load(server: Server, key: string, seen: Seen): Promise<void> {
  const sorts = [plain, streamed, native, streamed, background]
  await Promise.all(
    Array.from({ length: workers }, async (_, worker) => {
      for (let turn = worker; ; turn++) {
        const sort = sorts[turn % sorts.length] ?? plain
        try {
          await sort({ server, key, seen, model: modelOf(turn) })
        } catch (error) {
          if (error instanceof Unexpected) throw error
          // The server was killed under this request.
          return
        }
      }
    }),
  )
}

type Client = { server: Server; key: string; seen: Seen; model: string }

/** An answer that no kill explains. */
class Unexpected extends Error {}

const modelOf = (turn: number): string =>
  ['stub/pace-5', 'stub/pace-50', 'stub/pace-300', 'stub/pace-50'][turn % 4] ?? ''

type Paid = { id: string; receipt: { id: string; cost_nusd: number } }

async function plain({ server, key, seen, model }: Client): Promise<void> {
  const messages = [{ role: 'user', content: 'a drill' }]
  const answer = await server.call('/v1/chat/completions', { key, json: { model, messages } })
  notePaid(seen, (await read(answer, 200)) as Paid)
}

async function native({ server, key, seen, model }: Client): Promise<void> {
  const answer = await server.call('/v1/runs', { key, json: { model, input: 'a drill' } })
  notePaid(seen, (await read(answer, 200)) as Paid)
}

async function background({ server, key, seen, model }: Client): Promise<void> {
  const json = { model, input: 'a drill', background: true }
  const run = await read(await server.call('/v1/runs', { key, json }), 202)
  seen.begun.set((run as Paid).id, undefined)
}

async function streamed({ server, key, seen, model }: Client): Promise<void> {
  const messages = [{ role: 'user', content: 'a drill' }]
  const json = { model, messages, stream: true }
  const answer = await server.call('/v1/chat/completions', { key, json })
  if (answer.status !== 200) await read(answer, 200)
  const promised = answer.headers.get('x-receipt-id') ?? 'none'
  const decoder = new TextDecoder()
  let text = ''
  for await (const bytes of answer.body ?? []) {
    text += decoder.decode(bytes, { stream: true })
    const events = text.split('\n\n')
    text = events.pop() ?? ''
    for (const event of events) noteEvent(seen, event, promised)
  }
}

function noteEvent(seen: Seen, event: string, promised: string): void {
  if (!event.startsWith('data: {')) return
  const chunk = JSON.parse(event.slice('data: '.length))
  if (chunk.error) throw new Unexpected(`a stream said ${event}`)
  seen.begun.set(chunk.id, promised)
  if (chunk.receipt) notePaid(seen, chunk)
}

function notePaid({ paid, begun }: Seen, { id, receipt }: Paid): void {
  if (paid.has(receipt.id)) throw new Unexpected(`receipt ${receipt.id} was given out twice`)
  paid.set(receipt.id, { runId: id, cost: receipt.cost_nusd })
  begun.set(id, receipt.id)
}

async function read(answer: Response, status: number): Promise<unknown> {
  const text = await answer.text()
  if (answer.status !== status) throw new Unexpected(`${answer.status}: ${text}`)
  return JSON.parse(text)
}
