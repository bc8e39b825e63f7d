/** Clients of a service whose nodes are replaced: those that run models, and those that read. */
import type { Wish } from './cluster/clients.ts'
import type { Node } from './cluster/nodes.ts'

/** An account with its key, and the runs that its client wants. */
export type Writer = { account: string; secret: string; wishes: Wish[] }

/** How a run is asked for, in turn. */
const ways = ['whole', 'streamed', 'background'] as const
type Way = (typeof ways)[number]

/** Between two tries, and between two looks at a run in the background, in ms. */
const pauseMs = 50
const patienceMs = 20_000
/** How long one run is asked for, in ms. */
const giveUpMs = 60_000

/** One client for each account; it asks for a run until it is acknowledged. */
export function startWriters(url: string, writers: readonly Writer[]) {
  const wishes: Wish[] = []
  const refused: string[] = []
  let isOver = false
  const client = async (writer: Writer): Promise<void> => {
    for (let turn = 0; !isOver; turn++) {
      const way = ways[turn % ways.length] ?? 'whole'
      const idempotencyKey = crypto.randomUUID()
      const wish: Wish = { idempotencyKey, askedAt: performance.now(), paid: undefined }
      wishes.push(wish)
      writer.wishes.push(wish)
      while (!wish.paid && performance.now() < wish.askedAt + giveUpMs) {
        const outcome = await askOnce(url, writer.secret, wish, way)
        if (typeof outcome !== 'string') {
          wish.paid = { ...outcome, at: performance.now() }
          break
        }
        refused.push(outcome)
        await Bun.sleep(pauseMs)
      }
    }
  }
  const running = writers.map(client)
  return {
    wishes,
    /** Each as `<status> <type of the error>`; status 0 is a connection that broke. */
    refused,
    paid: () => wishes.flatMap(({ paid }) => paid ?? []),
    open: () => wishes.filter(({ paid }) => !paid).length,
    async stop() {
      isOver = true
      await Promise.all(running)
    },
  }
}

type Paid = { runId: string; receiptId: string; cost: number }

async function askOnce(
  url: string,
  secret: string,
  { idempotencyKey }: Wish,
  way: Way,
): Promise<Paid | string> {
  const headers = {
    authorization: `Bearer ${secret}`,
    'content-type': 'application/json',
    'idempotency-key': idempotencyKey,
  }
  const how = { stream: way === 'streamed', background: way === 'background' }
  const body = JSON.stringify({ model: 'stub/pace-50', input: 'a drill', ...how })
  const signal = AbortSignal.timeout(patienceMs)
  try {
    const answer = await fetch(`${url}/v1/runs`, { method: 'POST', headers, body, signal })
    const text = await answer.text()
    if (answer.status === 202) return await untilEnded(url, headers, JSON.parse(text).id)
    if (answer.status !== 200) return `${answer.status} ${typeOf(text)}`
    const said = way === 'streamed' ? lastOf(text) : JSON.parse(text)
    if (!said?.receipt) return `200 ${text.slice(-200)}`
    const { receipt, run, id } = said
    return { runId: run?.id ?? id, receiptId: receipt.id, cost: receipt.cost_nusd }
  } catch (error) {
    return `0 ${(error as { code?: string }).code ?? error}`
  }
}

/** Looks at a run in the background until it has ended, whichever nodes go meanwhile. */
async function untilEnded(
  url: string,
  headers: Record<string, string>,
  id: string,
): Promise<Paid | string> {
  const giveUpAt = performance.now() + patienceMs
  while (performance.now() < giveUpAt) {
    await Bun.sleep(pauseMs)
    const answer = await fetch(`${url}/v1/runs/${id}`, { headers })
    const text = await answer.text()
    if (answer.status === 503) continue
    if (answer.status !== 200) return `${answer.status} ${typeOf(text)}`
    const { status, receipt_id: receiptId, cost_nusd: cost } = JSON.parse(text)
    if (status === 'succeeded') return { runId: id, receiptId, cost }
    if (status !== 'queued' && status !== 'running') return `a run in the background is ${status}`
  }
  return `a run in the background does not end`
}

/** The event of a stream that names the receipt. */
const lastOf = (text: string) =>
  text
    .split('\n\n')
    .filter((event) => event.startsWith('data: {'))
    .map((event) => JSON.parse(event.slice('data: '.length)))
    .findLast(({ receipt }) => receipt)

/** The type of an error that a node said; a balancer says none. */
function typeOf(text: string): string {
  try {
    return JSON.parse(text).error.type
  } catch {
    return 'of the balancer'
  }
}

/** Old enough that every node can prove it, in ms. */
const provableMs = 5000

/** Asks every node directly for what it knows, twice a second, as long as it serves. */
export function startReaders(nodes: readonly Node[], writers: readonly Writer[]) {
  const failed: string[] = []
  let count = 0
  let isOver = false
  const read = async (node: Node, turn: number): Promise<void> => {
    const { secret: key, wishes } = writers[turn % writers.length] as Writer
    const now = performance.now()
    const old = wishes.findLast(({ paid }) => paid && paid.at < now - provableMs)?.paid
    const of = old ? [`/v1/receipts/${old.receiptId}`, `/v1/receipts/${old.receiptId}/proof`] : []
    const { server } = node
    for (const path of [...lists, ...of]) {
      const answer = await server.call(path, { key }).catch(() => undefined)
      // It stops, or has stopped.
      if (!answer || answer.status === 503) return
      const text = await answer.text()
      count++
      if (answer.status !== 200) failed.push(`${node.name}: ${path} ${answer.status} ${text}`)
    }
  }
  const watching = nodes.map(async (node) => {
    for (let turn = 0; !isOver; turn++) {
      await read(node, turn)
      await Bun.sleep(500)
    }
  })
  return {
    failed,
    count: () => count,
    async stop() {
      isOver = true
      await Promise.all(watching)
    },
  }
}

const lists = [
  '/v1/balance',
  '/v1/keys/self',
  '/v1/runs?limit=20',
  '/v1/receipts?limit=20',
  '/v1/usage?group_by=model',
  '/v1/status',
  '/v1/anchors',
  '/v1/explorer/recent',
  '/v1/explorer/stats?window=all',
]
