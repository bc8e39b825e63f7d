/** Clients that ask until they are answered, and write down what they were told. */
import { callAt } from '../../test/support/call.ts'
import type { Claim } from '../../test/support/judges.ts'

/** A key that asks; its account is at home on a shard where there are several. */
export type Asker = { secret: string; account?: string; shard?: 's3' | 's4' }

/** One run that a client wants, under an Idempotency-Key of its own. */
export type Wish = {
  idempotencyKey: string
  by: Asker
  askedAt: number
  /** The whole answer, once one came: the run is acknowledged. */
  paid: { runId: string; receiptId: string; cost: number; at: number } | undefined
  refused: Refusal[]
  /** When its client was done with it, acknowledged or given up. */
  doneAt: number
}

/** An answer other than a success; status 0 stands for no answer at all. */
export type Refusal = {
  at: number
  tookMs: number
  status: number
  reason: string
  by: 'a node' | 'haproxy' | ''
  /** `Retry-After`, and the shard that the answer names. */
  waitS: string | null
  shard: string | null
}

export type Load = {
  wishes: Wish[]
  /** All refusals so far, oldest first. */
  refused: Refusal[]
  paid(): number
  /** All clients are done. */
  ended: Promise<unknown>
  /** Lets the clients begin nothing new; within the time given they ask on for what is open. */
  stop(options?: { finishWithinMs: number }): Promise<void>
}

export type LoadOptions = {
  /** Names the next place to ask: a balancer, or nodes in turn. */
  origin(): string
  /** The keys that ask in turn; every list has clients of its own. */
  askers: readonly (readonly Asker[])[]
  workers?: number
  /** After so many of each list its clients end by themselves. */
  runs?: number
  /** How long a run is asked for, in ms. */
  giveUpMs?: number
  /** Whether clients go to the shard that a 421 names, and wait as Retry-After says. */
  isFollowing?: boolean
}

/** Between two tries of one client, and how long it waits for an answer, in ms. */
const pauseMs = 100
const patienceMs = 15_000

/** Starts clients, each of which asks for one run at a time. */
export function startClients({ origin, askers, workers = 12, ...options }: LoadOptions): Load {
  const { runs = Infinity, giveUpMs = Infinity, isFollowing = false } = options
  const wishes: Wish[] = []
  const refused: Refusal[] = []
  let isOver = false
  let giveUpAt = Infinity
  const clientOf = (own: readonly Asker[]) => {
    let turn = 0
    return async (): Promise<void> => {
      let shard: string | null = null
      while (turn < runs && !isOver) {
        const by = own[turn++ % own.length] as Asker
        const times = { askedAt: performance.now(), doneAt: 0 }
        const idempotencyKey = `drill-${wishes.length}`
        const wish: Wish = { idempotencyKey, by, ...times, paid: undefined, refused: [] }
        wishes.push(wish)
        const isPatient = () => performance.now() < Math.min(giveUpAt, wish.askedAt + giveUpMs)
        while (!wish.paid && isPatient()) {
          const refusal = await askOnce(origin(), wish, shard)
          if (!refusal) continue
          wish.refused.push(refusal)
          refused.push(refusal)
          if (isFollowing && refusal.status === 421) shard = refusal.shard
          else await Bun.sleep(isFollowing && refusal.waitS ? +refusal.waitS * 1000 : pauseMs)
        }
        wish.doneAt = performance.now()
      }
    }
  }
  const ended = Promise.all(
    askers.flatMap((own) => {
      const client = clientOf(own)
      return Array.from({ length: workers }, client)
    }),
  )
  return {
    wishes,
    refused,
    paid: () => wishes.filter(({ paid }) => paid).length,
    ended,
    async stop({ finishWithinMs } = { finishWithinMs: 0 }) {
      isOver = true
      giveUpAt = performance.now() + finishWithinMs
      await ended
    },
  }
}

/** Notes the run as it was paid. @returns the refusal where it was not. */
async function askOnce(
  origin: string,
  wish: Wish,
  shard: string | null,
): Promise<Refusal | undefined> {
  const sentAt = performance.now()
  const headers = {
    'idempotency-key': wish.idempotencyKey,
    ...(shard === null ? {} : { 'x-counterfoil-shard': shard }),
  }
  const json = { model: 'stub/pace-5', input: 'a drill' }
  const signal = AbortSignal.timeout(patienceMs)
  let answer: Response | undefined
  let reason = ''
  try {
    answer = await callAt(origin, '/v1/runs', { key: wish.by.secret, json, headers, signal })
    const text = await answer.text()
    if (answer.status === 200) {
      const { id, receipt } = JSON.parse(text) as Answer
      const at = performance.now()
      wish.paid = { runId: id, receiptId: receipt.id, cost: receipt.cost_nusd, at }
      return undefined
    }
    reason = /"(?:reason|type)":"(\w+)"/.exec(text)?.[1] ?? ''
  } catch (error) {
    answer = undefined
    reason = error instanceof Error ? error.name : 'Error'
  }
  const at = performance.now()
  return {
    ...{ at, tookMs: at - sentAt, status: answer?.status ?? 0, reason },
    by: answer ? (answer.headers.has('x-request-id') ? 'a node' : 'haproxy') : '',
    waitS: answer?.headers.get('retry-after') ?? null,
    shard: answer?.headers.get('x-counterfoil-shard') ?? null,
  }
}

type Answer = { id: string; receipt: { id: string; cost_nusd: number } }

/** Each run was acknowledged in the end, and what was answered in between is one of `allowed`. */
export function judgeRefusals(wishes: readonly Wish[], allowed: string[], claim: Claim): string {
  const all = wishes.flatMap(({ refused }) => refused)
  const counts = Map.groupBy(all, ({ status, by }) => (status ? `${status} by ${by}` : 'cut off'))
  for (const { status, by, waitS } of all) {
    const isTimed = by !== 'a node' || status !== 503 || waitS !== null
    claim(isTimed, 'a node said 503 without Retry-After')
  }
  const told = [...counts].map(([what, { length }]) => {
    claim(allowed.includes(what), `${length} answers were ${what}`)
    return `${length} × ${what}`
  })
  const lost = wishes.filter(({ paid }) => !paid).length
  claim(lost === 0, `${lost} runs were never acknowledged`)
  return told.join(', ') || 'none'
}
