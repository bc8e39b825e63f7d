/** Clients that ask until they are answered, and write down what they were told. */
import type { Node, Service } from './nodes.ts'

/** One run that a client wants, under an Idempotency-Key of its own. */
export type Wish = {
  idempotencyKey: string
  askedAt: number
  /** The whole answer, once one came: the run is acknowledged. */
  paid: { runId: string; receiptId: string; cost: number; at: number } | undefined
}

/** One answer that was no success. */
export type Refused = { at: number; node: string; status: number; reason: string; tookMs: number }

export type Clients = {
  wishes: Wish[]
  refused: Refused[]
  /** Lets the clients begin nothing new; with `finish` they ask on for what is open. */
  stop(options?: { finishWithinMs: number }): Promise<void>
}

/** Between two tries of one client, in ms. */
const pauseMs = 100
/** How long a client waits for an answer, in ms. */
const patienceMs = 15_000

/** Starts clients that ask the nodes in turn, each for one run at a time. */
export function startClients({ nodes, secret }: Service, workers = 12): Clients {
  const wishes: Wish[] = []
  const refused: Refused[] = []
  let isOver = false
  let giveUpAt = Number.POSITIVE_INFINITY
  let turn = 0

  const ask = async (wish: Wish): Promise<void> => {
    const node = nodes[turn++ % nodes.length] as Node
    const sentAt = performance.now()
    const outcome = await askOnce(node, secret, wish)
    if (typeof outcome !== 'string') {
      wish.paid = { ...outcome, at: performance.now() }
      return
    }
    const [status, reason] = outcome.split(' ', 2)
    const at = performance.now()
    refused.push({
      at,
      node: node.name,
      status: Number(status),
      reason: reason ?? '',
      tookMs: at - sentAt,
    })
    await Bun.sleep(pauseMs)
  }

  const client = async (): Promise<void> => {
    while (!isOver) {
      const wish: Wish = {
        idempotencyKey: `drill-${wishes.length}`,
        askedAt: performance.now(),
        paid: undefined,
      }
      wishes.push(wish)
      while (!wish.paid && performance.now() < giveUpAt) await ask(wish)
    }
  }

  const running = Array.from({ length: workers }, client)
  return {
    wishes,
    refused,
    async stop({ finishWithinMs } = { finishWithinMs: 0 }) {
      isOver = true
      giveUpAt = performance.now() + finishWithinMs
      await Promise.all(running)
    },
  }
}

type Paid = { runId: string; receiptId: string; cost: number }

/** The run as it was paid, or `<status> <reason>`; status 0 is no answer. */
async function askOnce(
  { server }: Node,
  key: string,
  { idempotencyKey }: Wish,
): Promise<Paid | string> {
  try {
    const answer = await server.call('/v1/runs', {
      key,
      json: { model: 'stub/pace-5', input: 'a drill' },
      headers: { 'idempotency-key': idempotencyKey },
      signal: AbortSignal.timeout(patienceMs),
    })
    const body = await answer.json()
    if (answer.status === 200) {
      const { id, receipt } = body
      return { runId: id, receiptId: receipt.id, cost: receipt.cost_nusd }
    }
    return `${answer.status} ${body.error.metadata?.reason ?? body.error.type}`
  } catch (error) {
    return `0 ${error instanceof Error ? error.name : 'Error'}`
  }
}
