/** Clients of two shards that ask for each run until it is acknowledged. */
import type { Wish } from './clients.ts'
import { type Asker, ids } from './shards.ts'

/** An answer that was no success: its status, 0 for none, and who gave it. */
export type Refusal = {
  at: number
  status: number
  by: 'node' | 'haproxy' | ''
  waitS: string | null
}

/** A run that a client wants, and how often it was refused. */
export type Asked = Wish & { by: Asker; refused: Refusal[]; doneAt: number }

/** How long a client waits for an answer, and between two tries, in ms. */
const patienceMs = 15_000
const pauseMs = 100
/** How long a run is asked for, in ms. */
const giveUpMs = 120_000

export type ShardLoad = ReturnType<typeof startShardLoad>

/**
 * Each run has an Idempotency-Key of its own, and each shard has clients of its own, which wait
 * while it is down.
 * @param runs after so many it ends by itself.
 */
export function startShardLoad(
  url: string,
  askers: readonly Asker[],
  { workers = 12, runs = Number.POSITIVE_INFINITY } = {},
) {
  const asked: Asked[] = []
  let paid = 0
  let isOver = false
  const clientOf = (own: readonly Asker[]) => {
    const count = (own.length * runs) / askers.length
    let turn = 0
    return async (): Promise<void> => {
      while (turn < count && !isOver) {
        const by = own[turn++ % own.length] as Asker
        const idempotencyKey = `drill-${asked.length}`
        const times = { askedAt: performance.now(), doneAt: 0 }
        const wish: Asked = { idempotencyKey, ...times, paid: undefined, by, refused: [] }
        asked.push(wish)
        while (!wish.paid && performance.now() < times.askedAt + giveUpMs) await askOnce(url, wish)
        if (wish.paid) paid++
        wish.doneAt = performance.now()
      }
    }
  }
  const clients = ids.flatMap((id) => {
    const client = clientOf(askers.filter(({ shard }) => shard === id))
    return Array.from({ length: workers }, client)
  })
  const ended = Promise.all(clients)
  const stop = async (): Promise<void> => {
    isOver = true
    await ended
  }
  return { asked, paid: () => paid, ended, stop }
}

async function askOnce(url: string, wish: Asked): Promise<void> {
  const headers = {
    authorization: `Bearer ${wish.by.secret}`,
    'content-type': 'application/json',
    'idempotency-key': wish.idempotencyKey,
  }
  const body = JSON.stringify({ model: 'stub/pace-5', input: 'a drill' })
  const signal = AbortSignal.timeout(patienceMs)
  const answer = await fetch(`${url}/v1/runs`, { method: 'POST', headers, body, signal }).catch(
    () => undefined,
  )
  if (answer?.status === 200) {
    const { id, receipt } = (await answer.json()) as Answer
    wish.paid = { runId: id, receiptId: receipt.id, cost: receipt.cost_nusd, at: performance.now() }
    return
  }
  const by = !answer ? '' : answer.headers.has('x-request-id') ? 'node' : 'haproxy'
  const waitS = answer?.headers.get('retry-after') ?? null
  wish.refused.push({ at: performance.now(), status: answer?.status ?? 0, by, waitS })
  await Bun.sleep(pauseMs)
}

type Answer = { id: string; receipt: { id: string; cost_nusd: number } }
