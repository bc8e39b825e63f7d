/** Answers public reads for several shards at once; changes nothing and needs no key. */
import type { TSchema } from '@sinclair/typebox'
import { recentQuery, statsQuery } from '../../../front/explorer/api/explorer-query.ts'
import { explorerStatsShape, recentShape } from '../../../front/explorer/shapes.ts'
import { statusShape } from '../../../front/status/shapes.ts'
import type { Clock, Millis } from '../../../kernel/clock.ts'
import type { Ids } from '../../../kernel/ids.ts'
import { Refusal, refuse, toErrorBody } from '../../../kernel/refusal.ts'
import { within } from '../../../kernel/within.ts'
import { checkBody } from '../../../web/http/check-body.ts'
import { refusalHeaders } from '../../../web/http/refusal-headers.ts'
import { toRefusal } from '../../../web/http/to-refusal.ts'
import { mergeRecent, mergeStats, type ShardAnswer } from './merge.ts'

export type GatherNeeds = {
  shards: readonly { id: string; url: string }[]
  /** The JSON at a path of a shard. @throws unless it answers 200 */
  read: (shard: { id: string; url: string }, path: string) => Promise<unknown>
  clock: Pick<Clock, 'monotonic'>
  ids: Ids
}

/** How long a shard may take, in ms: the others' answer waits for it. */
const patienceMs = 5000
/** How long an answer is given again, in ms, so that many readers cost the shards as one. */
const freshMs = 2000

/** The handler of requests. */
export function gatherer(needs: GatherNeeds): (request: Request) => Promise<Response> {
  const known = new Map<string, { at: Millis; value: Promise<object> }>()
  /** Bounded: a path is one of a few words and at most a hundred limits. */
  const remembered = (name: string, ask: () => Promise<object>): Promise<object> => {
    const now = needs.clock.monotonic()
    const found = known.get(name)
    if (found && now - found.at < freshMs) return found.value
    const value = ask()
    known.set(name, { at: now, value })
    value.catch(() => known.delete(name))
    return value
  }
  return async (request) => {
    const requestId = needs.ids.make('req')
    try {
      const body = await answer(needs, new URL(request.url), request.method, remembered)
      return Response.json(body, { headers: headersOf(requestId) })
    } catch (error) {
      const refusal = toRefusal(error)
      const headers = { ...headersOf(requestId), ...refusalHeaders(refusal) }
      return Response.json(toErrorBody(refusal, requestId), { status: refusal.status, headers })
    }
  }
}

const headersOf = (requestId: string): Record<string, string> => ({
  'x-request-id': requestId,
  'x-content-type-options': 'nosniff',
  'access-control-allow-origin': '*',
  'cache-control': 'no-cache',
})

type AnswerCache = (name: string, ask: () => Promise<object>) => Promise<object>

/** @throws Refusal */
async function answer(
  needs: GatherNeeds,
  { pathname, searchParams: query }: URL,
  method: string,
  remembered: AnswerCache,
): Promise<object> {
  if (pathname === '/livez' || pathname === '/readyz') return { status: 'ok' }
  const isRead = method === 'GET' || method === 'HEAD'
  if (pathname === '/v1/explorer/stats' && isRead) {
    const { window = '24h' } = statsQuery.read(query)
    return remembered(`stats ${window}`, () => statsOf(needs, `${pathname}?window=${window}`))
  }
  if (pathname === '/v1/explorer/recent' && isRead) {
    const { type = 'receipt', limit, after } = recentQuery.read(query)
    if (after !== undefined) refuseAfter()
    const path = `${pathname}?type=${type}&limit=${limit}`
    return remembered(`recent ${type} ${limit}`, () => recentOf(needs, path, limit))
  }
  if (pathname === '/v1/status' && isRead) return remembered('status', () => statusOf(needs))
  return refuse('not_found', {
    message:
      'Here are GET /v1/explorer/stats, /v1/explorer/recent and /v1/status of all shards. Ask ' +
      'the service itself for anything else.',
  })
}

function refuseAfter(): never {
  const message = 'Only the newest are gathered. Page through the list of one shard.'
  refuse('invalid_request', { param: 'after', message })
}

async function statsOf(needs: GatherNeeds, path: string) {
  const { found, missing } = await fromAll(needs, path, explorerStatsShape)
  return { ...mergeStats(found), shards: found.map(({ shard }) => shard), missing }
}

async function recentOf(needs: GatherNeeds, path: string, limit: number) {
  const { found, missing } = await fromAll(needs, path, recentShape)
  return { ...mergeRecent(found, limit), shards: found.map(({ shard }) => shard), missing }
}

/** Degraded while a shard is, or does not answer. */
async function statusOf(needs: GatherNeeds) {
  const { found, missing } = await fromAll(needs, '/v1/status', statusShape)
  const isWell = missing.length === 0 && found.every(({ answer }) => answer.status === 'ok')
  return {
    object: 'gathered_status',
    status: isWell ? 'ok' : 'degraded',
    shards: found.map(({ shard, answer }) => ({
      id: shard,
      status: answer.status,
      version: answer.version,
      log: answer.log,
      ledger: answer.ledger,
      database: answer.database,
    })),
    missing,
  }
}

/**
 * The answers of reachable shards, and the ids of the others.
 * @throws Refusal `unavailable` when none can be reached
 */
async function fromAll<T extends TSchema>(needs: GatherNeeds, path: string, shape: T) {
  const { shards, read } = needs
  const asked = shards.map(async (shard): Promise<ShardAnswer<T['static']> | undefined> => {
    const value = await within(patienceMs, read(shard, path)).catch(() => undefined)
    const answer = value === undefined ? undefined : readAs(shape, value)
    // Another service at this URL would be counted as the shard.
    return answer === undefined || answer.shard !== shard.id
      ? undefined
      : { shard: shard.id, answer }
  })
  const found = (await Promise.all(asked)).filter((one) => one !== undefined)
  const missing = shards.map(({ id }) => id).filter((id) => found.every((one) => one.shard !== id))
  if (found.length === 0) {
    const message = `No shard answers (${missing.join(', ')}). Try again.`
    refuse('unavailable', { message, headers: { 'retry-after': '2' } })
  }
  return { found, missing }
}

/** Undefined for an answer of another form. */
function readAs<T extends TSchema>(
  shape: T,
  value: unknown,
): (T['static'] & ShardParam) | undefined {
  try {
    return checkBody(shape, value) as T['static'] & ShardParam
  } catch (error) {
    if (error instanceof Refusal) return undefined
    throw error
  }
}

type ShardParam = { shard?: string }
