import { connect } from './connection.ts'
import { type ProcessUsage, usageOf } from './processes.ts'

/** Something that answers OpenAI-shaped chat requests; `pid` when its CPU and memory count. */
export type Target = {
  name: string
  origin: string
  model: (behaviour: string) => string
  headers: Record<string, string>
  pid?: number
  /** A path to GET in place of asking a model. */
  path?: string
  /** The door that a model is asked at; Chat Completions when absent. */
  door?: Door
  /** Keys that take turns by chance, in place of the one in the headers. */
  secrets?: readonly string[]
}

/** A protocol's route, and what it calls the text that is sent and the most that may come back. */
export type Door = { path: string; ask: (text: string, most: number) => object }

const chat: Door = {
  path: '/v1/chat/completions',
  ask: (content, max_tokens) => ({ messages: [{ role: 'user', content }], max_tokens }),
}

export type Load = {
  /** What the stub is to do: `t16`, `t100-i20`. */
  behaviour: string
  stream: boolean
  connections: number
  seconds: number
  /** Open loop: so many requests a second in all, each timed from when it was due. */
  ratePerSecond?: number
  /** Frames that come earlier are not counted. */
  framesAfterSeconds?: number
  /** The length of the prompt; a short greeting when absent. */
  promptBytes?: number
  /** Whether each request has an Idempotency-Key of its own. */
  isIdempotent?: boolean
}

export type LoadResult = {
  perSecond: number
  requests: number
  errors: Record<string, number>
  latencyMs: Spread
  /** Until the first byte of the body. */
  firstMs: Spread
  /** Frames that came within the time of the load, a second. */
  framesPerSecond: number
  /** CPU of the target's process for one request; 0 without a pid. */
  cpuUsPerRequest: number
  /** What the target's process wrote for one request. */
  diskBytesPerRequest: number
  passedBytesPerRequest: number
  after: ProcessUsage | undefined
}

export type Spread = { p50: number; p90: number; p99: number; max: number }

/** Asks `target` on all connections until the time is over, then lets what runs come to its end. */
export async function runLoad(target: Target, load: Load): Promise<LoadResult> {
  const url = new URL(target.door?.path ?? chat.path, target.origin)
  const requests = requestsOf(target, url, load)
  const latencies: number[] = []
  const firsts: number[] = []
  const errors: Record<string, number> = {}
  let frames = 0
  const before = target.pid === undefined ? undefined : usageOf(target.pid)
  const startAt = performance.now()
  const endAt = startAt + load.seconds * 1000
  const countFrom = startAt + (load.framesAfterSeconds ?? 0) * 1000
  const onFrames = (count: number) => {
    const now = performance.now()
    if (now >= countFrom && now < endAt) frames += count
  }

  const keepAsking = async (index: number) => {
    let connection = await connect(url)
    for (let turn = 0; ; turn++) {
      const dueAt = dueAtOf(load, startAt, index + turn * load.connections)
      if (dueAt !== undefined) await Bun.sleep(Math.max(0, dueAt - performance.now()))
      // A timer may fire early: then the time counts from the asking.
      const askedAt = Math.min(dueAt ?? Number.POSITIVE_INFINITY, performance.now())
      if (askedAt >= endAt) break
      const request = requests[Math.floor(Math.random() * requests.length)] as Uint8Array
      if (load.isIdempotent) stamp(request)
      const answer = await connection.ask(request, onFrames)
      const now = performance.now()
      if (answer.status === 200 && (answer.whole || target.path !== undefined)) {
        latencies.push(now - askedAt)
        firsts.push(answer.firstAt - askedAt)
        continue
      }
      const what = answer.status === 200 ? 'incomplete' : `status ${answer.status}`
      errors[what] = (errors[what] ?? 0) + 1
      if (answer.status === 0) connection = await connect(url)
    }
    connection.cut()
  }
  await Promise.all(Array.from({ length: load.connections }, (_, index) => keepAsking(index)))

  const seconds = (performance.now() - startAt) / 1000
  const after = target.pid === undefined ? undefined : usageOf(target.pid)
  const perRequest = (what: 'cpuUs' | 'diskBytes' | 'passedBytes') =>
    after && before ? (after[what] - before[what]) / Math.max(1, latencies.length) : 0
  return {
    perSecond: latencies.length / seconds,
    requests: latencies.length,
    errors,
    latencyMs: spreadOf(latencies),
    firstMs: spreadOf(firsts),
    framesPerSecond: (frames * 1000) / (endAt - countFrom),
    cpuUsPerRequest: perRequest('cpuUs'),
    diskBytesPerRequest: perRequest('diskBytes'),
    passedBytesPerRequest: perRequest('passedBytes'),
    after,
  }
}

/** When the n-th request of an open loop is due; undefined in a closed loop. */
function dueAtOf({ ratePerSecond }: Load, startAt: number, n: number): number | undefined {
  return ratePerSecond === undefined ? undefined : startAt + (n * 1000) / ratePerSecond
}

/** A request for each key of the target. */
function requestsOf(target: Target, url: URL, load: Load): Uint8Array[] {
  const { secrets, headers } = target
  if (!secrets) return [requestOf(target, url, load)]
  return secrets.map((secret) => {
    const own = { ...headers, authorization: `Bearer ${secret}` }
    return requestOf({ ...target, headers: own }, url, load)
  })
}

const greeting = 'Say hello to the benchmark.'
const idempotencyKey = 'bench-0000000000000000'
let stamps = Date.now()

/** Writes the next Idempotency-Key into a request. */
function stamp(request: Uint8Array): void {
  const bytes = Buffer.from(request.buffer, request.byteOffset, request.byteLength)
  const digits = String(stamps++).padStart(16, '0')
  bytes.write(digits, bytes.indexOf('bench-') + 'bench-'.length, 'latin1')
}

/** A prompt of lines of prose with some quotes, as those of agents have. */
function promptOf(bytes: number | undefined): string {
  if (bytes === undefined) return greeting
  const line = 'Read the "quoted" line, then say hello to the benchmark.\n'
  return line.repeat(Math.ceil(bytes / line.length)).slice(0, bytes)
}

/** The bytes of a request, the same for every turn. */
export function requestOf(
  target: Target,
  url: URL,
  load: Pick<Load, 'behaviour' | 'stream' | 'promptBytes' | 'isIdempotent'>,
): Uint8Array {
  if (target.path !== undefined) return readOf(target.path, url, target.headers)
  const { behaviour, stream, promptBytes, isIdempotent } = load
  const most = Number(/t(\d+)/.exec(behaviour)?.[1] ?? 16)
  const body = JSON.stringify({
    model: target.model(behaviour),
    ...(target.door ?? chat).ask(promptOf(promptBytes), most),
    ...(stream ? { stream: true } : {}),
  })
  // Before all headers that may hold the word that its digits are found by.
  const own: Record<string, string> = isIdempotent ? { 'idempotency-key': idempotencyKey } : {}
  const headers = {
    host: url.host,
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    ...own,
    ...target.headers,
  }
  return Buffer.from(`POST ${url.pathname} HTTP/1.1\r\n${linesOf(headers)}\r\n${body}`)
}

const readOf = (path: string, url: URL, headers: Record<string, string>): Uint8Array =>
  Buffer.from(`GET ${path} HTTP/1.1\r\n${linesOf({ host: url.host, ...headers })}\r\n`)

const linesOf = (headers: Record<string, string>): string =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')

function spreadOf(values: number[]): Spread {
  const sorted = Float64Array.from(values).sort()
  const at = (share: number) => sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN
  return { p50: at(0.5), p90: at(0.9), p99: at(0.99), max: at(1) }
}
