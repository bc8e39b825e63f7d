/** Asks RPC servers that stand in for each other; one that fails is paused, longer each time. */
import { type ChainTrouble, ChainUnavailable, chainId } from '../../kernel/chain.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Hex } from '../../kernel/hex.ts'
import { isModestJson } from '../../kernel/json-size.ts'
import type { Random } from '../../kernel/random.ts'
import { type HttpLimits, request } from '../../models/upstream/http.ts'
import { UpstreamFailure } from '../../models/upstream/upstream.ts'
import { readQuantity } from './rpc-forms.ts'

export type RpcOptions = {
  /** Tried in order. They can contain keys and are never shown. */
  urls: readonly string[]
  clock: Pick<Clock, 'monotonic'>
  random: Random
  /** How long one server may take to answer, in ms. */
  timeoutMs?: number
}

/** One JSON-RPC call; rejects with {@link ChainUnavailable} or {@link RpcError}. */
export type RpcCall = (method: string, params: unknown[]) => Promise<unknown>

/** A server's own words for no. They stay inside of this folder: they can quote its URL. */
export class RpcError extends Error {
  constructor(
    readonly said: string,
    /** The data of a contract that refused. */
    readonly reverted: Hex | undefined,
  ) {
    super('an RPC server answered with an error')
  }
}

type Server = {
  url: string
  /** Whether it said that it is of our chain since it last failed. */
  believed: boolean
  failures: number
  /** Monotonic time until which it is not asked. */
  pausedUntil: number
  /** Why it is paused. */
  trouble: ChainUnavailable
}

/** How much of an answer is read: the logs of a range of blocks, with room. */
const answerBytes = 8 * 1024 * 1024
/** The first and the longest pause of a failing server, in ms. */
const pauseFirstMs = 500
const pauseMostMs = 15_000

export function openServers(options: RpcOptions): { ask: RpcCall; close(): void } {
  const { clock, random, timeoutMs = 10_000 } = options
  const closed = new AbortController()
  const limits: HttpLimits = {
    firstByteMs: timeoutMs,
    idleMs: timeoutMs,
    totalMs: timeoutMs,
    answerBytes,
    streamBytes: answerBytes,
  }
  const servers = options.urls.map(
    (url): Server => ({
      url,
      believed: false,
      failures: 0,
      pausedUntil: Number.NEGATIVE_INFINITY,
      trouble: new ChainUnavailable('unreachable'),
    }),
  )

  const exchange = (server: Server, method: string, params: unknown[]) =>
    post(server.url, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }), {
      limits,
      signal: closed.signal,
    })

  /** One server's answer. It is asked for its chain first, until it said the right one. */
  const askOne = async (server: Server, method: string, params: unknown[]): Promise<unknown> => {
    if (!server.believed) {
      const answer = await exchange(server, 'eth_chainId', [])
      if (readQuantity(answer) !== BigInt(chainId)) throw new ChainUnavailable('wrong_chain')
      server.believed = true
    }
    const answer = await exchange(server, method, params)
    server.failures = 0
    return answer
  }

  /** From half to the whole of a time that doubles: many nodes must not come back at once. */
  const pause = (server: Server, trouble: ChainUnavailable): void => {
    const most = Math.min(pauseFirstMs * 2 ** server.failures, pauseMostMs)
    const share = (random.bytes(1)[0] ?? 0) / 255
    server.believed = false
    server.failures++
    server.trouble = trouble
    server.pausedUntil = clock.monotonic() + most * (0.5 + share / 2)
  }

  const ask: RpcCall = async (method, params) => {
    let trouble: Error = new ChainUnavailable('unreachable')
    for (const server of servers) {
      if (closed.signal.aborted) throw new ChainUnavailable('closed')
      if (server.pausedUntil > clock.monotonic()) {
        trouble = server.trouble
        continue
      }
      try {
        return await askOne(server, method, params)
      } catch (error) {
        trouble = toTrouble(error)
        // Other answers of one server may be its own trouble: the next may know more.
        if (trouble instanceof ChainUnavailable && isItsOwn(trouble)) pause(server, trouble)
      }
    }
    throw trouble
  }
  return { ask, close: () => closed.abort() }
}

/** Returns an error worth asking another server. @throws the others: a revert, our end, a bug. */
function toTrouble(error: unknown): Error {
  if (error instanceof RpcError && error.reverted === undefined) return error
  if (error instanceof ChainUnavailable && error.reason !== 'closed') return error
  throw error
}

/** Whether the server is at fault and has to pause; an answer too large is the request's fault. */
const isItsOwn = ({ reason }: ChainUnavailable): boolean => reason !== 'too_large'

async function post(
  url: string,
  body: string,
  options: { limits: HttpLimits; signal: AbortSignal },
): Promise<unknown> {
  let text: string
  let status: number
  try {
    const headers = { 'content-type': 'application/json' }
    const answer = await request({ url, headers, body, ...options })
    status = answer.status
    text = await answer.text()
  } catch (error) {
    if (!(error instanceof UpstreamFailure)) throw error
    throw new ChainUnavailable(troubles[error.reason] ?? 'unreachable')
  }
  if (status === 429 || status === 503) throw new ChainUnavailable('busy')
  return readAnswer(text)
}

const troubles: Partial<Record<UpstreamFailure['reason'], ChainTrouble>> = {
  timeout: 'timeout',
  too_long: 'timeout',
  too_large: 'too_large',
  aborted: 'closed',
}

/** Some servers send their errors with a status of 400 or 500: the body says what it is. */
function readAnswer(text: string): unknown {
  if (!isModestJson(text)) throw new ChainUnavailable('malformed')
  let answer: unknown
  try {
    answer = JSON.parse(text)
  } catch {
    throw new ChainUnavailable('malformed')
  }
  if (typeof answer !== 'object' || answer === null) throw new ChainUnavailable('malformed')
  if ('error' in answer && answer.error) throw toRpcError(answer.error)
  if (!('result' in answer)) throw new ChainUnavailable('malformed')
  return answer.result
}

function toRpcError(error: unknown): Error {
  if (typeof error !== 'object' || error === null) return new ChainUnavailable('malformed')
  // Only text and numbers are read: an object might not convert to either.
  const said = 'message' in error && typeof error.message === 'string' ? error.message : ''
  const code = 'code' in error && typeof error.code === 'number' ? error.code : 0
  // -32005: the server's own limit of requests, whatever the status.
  if (code === -32005 && /rate|too many|limit exceeded/i.test(said)) {
    return new ChainUnavailable('busy')
  }
  const data = 'data' in error && typeof error.data === 'string' ? error.data : ''
  const isRevert = code === 3 || /execution reverted/i.test(said)
  const reverted = /^0x([0-9a-fA-F]{2})*$/.test(data) ? (data.toLowerCase() as Hex) : '0x'
  return new RpcError(said, isRevert ? reverted : undefined)
}
