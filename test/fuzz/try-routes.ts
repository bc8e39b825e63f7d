import { auditStore } from '../../src/ledger/store/audit.ts'
import { rows } from '../../src/storage/db/sql/query-steps.ts'
import { prng } from '../ledger/prng.ts'
import { until } from '../support/runs.ts'
import { testPrivateKey } from '../support/world.ts'
import { type Made, makeRequest } from './requests.ts'
import { type Bounds, type Effort, stopwatch, type Tried } from './run.ts'
import type { Service } from './service.ts'

/** How long an answer may take to begin, in ms; where the server waits, it waits for seconds. */
const hangMs = 20_000
/** How long a stream is listened to, in ms. */
const listenMs = 40
const mostFaults = 8

/** Sends requests to every route and looks at each answer, and at what became of the money. */
export async function tryRoutes(
  service: Service,
  seed: number,
  effort: Effort,
  bounds: Bounds,
  name = 'routes',
): Promise<Tried> {
  const tried: Tried = { name, inputs: 0, slowestMs: 0, grownMiB: 0, faults: [] }
  const end = 'ms' in effort ? performance.now() + effort.ms : Number.POSITIVE_INFINITY
  const most = 'inputs' in effort ? effort.inputs : Number.POSITIVE_INFINITY
  let before = await moneyIn(service)
  let cookie = await service.cookie()
  let strangers = 0
  while (tried.inputs < most && performance.now() < end && tried.faults.length < mostFaults) {
    const number = tried.inputs++
    // A session ends and money moves by what was asked before: both are looked at again.
    if (number % 10 === 9) cookie = await service.cookie()
    const made = makeRequest(service, prng(Bun.hash.crc32(`${seed}/${number}`)), cookie)
    const spent = stopwatch()
    const answer = await ask(service, made)
    const ms = spent()
    if (answer.status === 401) strangers++
    tried.slowestMs = Math.max(tried.slowestMs, ms)
    const faults = faultsOf(service, made, answer)
    if (ms > bounds.mostMs) faults.push(`took ${ms.toFixed(0)} ms`)
    const after = await moneyIn(service)
    // A run of before, in the background or left, ends when it likes.
    const isTold = before.isStill && after.isStill && answer.status >= 400
    if (isTold && after.text !== before.text) {
      faults.push(`was refused and moved money: ${before.text} → ${after.text}`)
    }
    before = after
    const where = `${seed}/${number}: ${made.route.method} ${made.target.slice(0, 200)}`
    tried.faults.push(...faults.map((fault) => `${where}: ${answer.status} ${fault}`))
  }
  // Behind a door that stays shut nothing was tried.
  if (tried.inputs > 200 && strangers > tried.inputs / 4) {
    tried.faults.push(`${strangers} of ${tried.inputs} requests were a stranger's`)
  }
  tried.faults.push(...(await booksOf(service)))
  return tried
}

type Answer = { status: number; headers: Headers; text: string }

/** The answer as far as it comes: a stream that stays open is left after a moment. */
async function ask({ w }: Service, { target, init }: Made): Promise<Answer> {
  const leave = new AbortController()
  const hang = setTimeout(() => leave.abort(), hangMs)
  try {
    const answer = await fetch(w.origin + target, { ...init, signal: leave.signal })
    const { status, headers } = answer
    if (!headers.get('content-type')?.startsWith('text/event-stream')) {
      return { status, headers, text: await answer.text() }
    }
    const stop = setTimeout(() => leave.abort(), listenMs)
    const text = await readSome(answer)
    clearTimeout(stop)
    return { status, headers, text }
  } catch (error) {
    return { status: 0, headers: new Headers(), text: String(error) }
  } finally {
    clearTimeout(hang)
  }
}

async function readSome(answer: Response): Promise<string> {
  let text = ''
  try {
    for await (const bytes of answer.body ?? []) text += Buffer.from(bytes).toString()
  } catch {
    // It was left.
  }
  return text
}

/** What is wrong with an answer, no matter what was asked. */
function faultsOf(service: Service, made: Made, { status, headers, text }: Answer): string[] {
  const faults: string[] = []
  if (status === 0) return [`no answer: ${text}`]
  // No one runs a chain here, and a server that stops asks again.
  if (status >= 500 && status !== 503) faults.push(text.slice(0, 200))
  const secrets = [service.secret, service.sessionToken(), testPrivateKey]
  if (secrets.some((secret) => secret !== '' && text.includes(secret)))
    faults.push('tells a secret')
  if (/\bat (async )?\w+ \(|node_modules|\.tsx?:\d+/.test(text)) faults.push('tells where it broke')
  // The server itself has no room for more headers, and asks no one.
  if (status === 431) return faults
  if (headers.get('x-request-id')?.startsWith('req_') !== true) faults.push('has no request id')
  const isOfPrograms = /^\/v1(\/|$)/.test(made.route.path)
  if (status >= 400 && isOfPrograms) faults.push(...errorFaults(made.route.path, text, headers))
  return faults
}

/** The error body of the route's protocol, in full: Anthropic's holds ours as its details. */
function errorFaults(path: string, text: string, headers: Headers): string[] {
  let body: { type?: string; error?: Record<string, unknown> }
  try {
    body = JSON.parse(text)
  } catch {
    return [`is not JSON: ${text.slice(0, 100)}`]
  }
  const outer = body.error ?? {}
  const isOfMessages = path.startsWith('/v1/messages')
  const error = isOfMessages ? Object(outer['details']) : outer
  const isWhole =
    body.type === (isOfMessages ? 'error' : undefined) &&
    typeof outer['type'] === 'string' &&
    typeof outer['message'] === 'string' &&
    typeof error['type'] === 'string' &&
    error['code'] === error['type'] &&
    'param' in error &&
    error['request_id'] === headers.get('x-request-id')
  return isWhole ? [] : [`is not the error body: ${text.slice(0, 200)}`]
}

const isSettled = ({ w }: Service): boolean => w.deps.live.count() === 0

/** What all accounts have and hold, as text to compare, and whether nothing was under way. */
async function moneyIn(service: Service): Promise<{ text: string; isStill: boolean }> {
  const { w } = service
  const { accounts } = w.db.tables
  const isStill = isSettled(service)
  const all = await w.db.read((q) =>
    rows(q.select({ balance: accounts.balance, held: accounts.held }).from(accounts)),
  )
  const sum = (of: (row: { balance: bigint; held: bigint }) => bigint): bigint =>
    all.reduce((total, row) => total + of(row), 0n)
  return { text: `${sum(({ balance }) => balance)} and ${sum(({ held }) => held)} held`, isStill }
}

/** What is wrong with the ledger when everything has ended, and what was logged as a bug. */
async function booksOf(service: Service): Promise<string[]> {
  const { w } = service
  for (const run of w.deps.live.all()) run.stop('shutdown')
  await until('the runs in flight', () => isSettled(service), 10_000)
  const audit = await auditStore(w.db).whole(w.deps.clock.now())
  const broken = w.logged.filter(({ error }) => error !== undefined)
  return [
    ...audit.map((fault) => `the ledger: ${JSON.stringify(fault)}`),
    ...broken.slice(0, 5).map(({ event, error }) => `${event}: ${String(error).slice(0, 300)}`),
    ...((await moneyIn(service)).text.endsWith(' 0 held') ? [] : ['something is held']),
  ]
}
