import { privateKeyToAccount } from 'viem/accounts'
import { type Browser, browser, cookieHeader, signInWith } from '../test/access/accounts/wallet.ts'
import type { Server } from '../test/support/binary.ts'

/** What was asked and answered since the last look. */
export type Counted = {
  asked: number
  /** Requests that found too many others on their way, and were not sent. */
  left: number
  /** How long whole answers took that no upstream paces, in ms. */
  times: number[]
  /** Answers that should not have been, each kind once. */
  faults: Set<string>
}

export type Traffic = { look(): Counted; stop(): Promise<void> }

type Options = { server: Server; key: string; wallet: `0x${string}`; perSecond: number }

/** Requests on their way at once, at most. */
const most = 300
/** Receipts and runs that reads ask for: the newest ones. */
const remembered = 50

/**
 * Asks for everything that a service is asked for, at one rate, whatever the answers take: runs of
 * all sorts, some of them left in the middle, reads by key, pages signed in and not, and streams
 * that follow what happens.
 */
export async function startTraffic(options: Options): Promise<Traffic> {
  const signedIn = browser({ call: options.server.call })
  const client: Client = {
    ...options,
    signedIn,
    receipts: [],
    runs: [],
    counted: nothingCounted(),
    turn: 0,
  }
  const answer = await signInWith(signedIn, privateKeyToAccount(options.wallet))
  if (answer.status !== 200) throw new Error(`the sign-in: ${await answer.text()}`)
  const order = shuffled(kinds.flatMap(([ask, share]) => Array.from({ length: share }, () => ask)))
  const open = new Set<Promise<void>>()
  const send = (): void => {
    if (open.size >= most) return void client.counted.left++
    const ask = order[client.turn++ % order.length] ?? plain
    client.counted.asked++
    const done = ask(client)
      .catch((error: unknown) => void client.counted.faults.add(`${ask.name}: ${error}`))
      .finally(() => open.delete(done))
    open.add(done)
  }
  const startedAt = performance.now()
  let due = 0
  const timer = setInterval(() => {
    const now = ((performance.now() - startedAt) / 1000) * options.perSecond
    // After a pause of this process not all of it at once: that would be another load.
    if (now - due > options.perSecond) due = now - options.perSecond
    for (; due < now; due++) send()
  }, 5)
  return {
    look() {
      const { counted } = client
      client.counted = nothingCounted()
      return counted
    },
    async stop() {
      clearInterval(timer)
      await Promise.all(open)
    },
  }
}

type Client = Options & {
  signedIn: Browser
  receipts: string[]
  runs: string[]
  counted: Counted
  turn: number
}

const nothingCounted = (): Counted => ({ asked: 0, left: 0, times: [], faults: new Set() })

const messages = [{ role: 'user', content: 'a drill that takes its time' }]

/** Who asks how often, of a hundred. */
const kinds: [(client: Client) => Promise<void>, number][] = [
  [plain, 16],
  [native, 6],
  [streamed, 16],
  [builtIn, 8],
  [embedding, 2],
  [background, 2],
  [hangUp, 4],
  [once, 2],
  [refused, 3],
  [readByKey, 22],
  [readPublic, 12],
  [readSignedIn, 4],
  [follow, 2],
  [speakTools, 1],
]

async function plain(client: Client): Promise<void> {
  await paid(client, '/v1/chat/completions', { model: 'stub/pace-50', messages })
}

async function native(client: Client): Promise<void> {
  await paid(client, '/v1/runs', { model: 'stub/pace-5', input: 'a drill' })
}

async function builtIn(client: Client): Promise<void> {
  const begun = performance.now()
  await paid(client, '/v1/chat/completions', { model: 'counterfoil/echo-1', messages })
  client.counted.times.push(performance.now() - begun)
}

async function embedding({ server, key }: Client): Promise<void> {
  const json = { model: 'counterfoil/embed-1', input: 'a drill' }
  await textOf(await server.call('/v1/embeddings', { key, json }), 200)
}

async function background(client: Client): Promise<void> {
  const json = { model: 'stub/pace-50', input: 'a drill', background: true }
  const answer = await client.server.call('/v1/runs', { key: client.key, json })
  remember(client.runs, JSON.parse(await textOf(answer, 202)).id)
}

async function once({ server, key, turn }: Client): Promise<void> {
  const headers = { 'idempotency-key': `drill-${turn}` }
  const json = { model: 'counterfoil/echo-1', messages }
  const ask = async () =>
    textOf(await server.call('/v1/chat/completions', { key, headers, json }), 200)
  const first = await ask()
  if ((await ask()) !== first) throw new Error('another answer for the same key')
}

async function streamed({ server, key }: Client): Promise<void> {
  const json = { model: 'stub/pace-300', messages, stream: true }
  const text = await textOf(await server.call('/v1/chat/completions', { key, json }), 200)
  if (!text.endsWith('data: [DONE]\n\n')) throw new Error(`ends with ${text.slice(-200)}`)
}

/** Leaves in the middle of an answer that would never end. */
async function hangUp({ server, key }: Client): Promise<void> {
  const json = { model: 'stub/endless', messages, stream: true }
  await leave((signal) => server.call('/v1/chat/completions', { key, json, signal }), 200)
}

async function refused({ server, key, turn }: Client): Promise<void> {
  const ask = (key: string, json: unknown) => server.call('/v1/chat/completions', { key, json })
  if (turn % 3 === 0) await textOf(await ask('sk-service-none', { model: 'x', messages }), 401)
  else if (turn % 3 === 1) await textOf(await ask(key, { model: 'no/such', messages }), 404)
  else await textOf(await ask(key, { model: 'stub/pace-5', messages: 'none' }), 400)
}

async function readByKey({ server, key, turn, receipts, runs, counted }: Client): Promise<void> {
  const receipt = receipts[turn % receipts.length]
  const run = runs[turn % runs.length]
  const paths = ['/v1/balance', '/v1/keys/self', '/v1/runs?limit=20', '/v1/usage', '/v1/models']
  if (receipt) paths.push(`/v1/receipts/${receipt}`, `/v1/receipts/${receipt}`)
  if (run) paths.push(`/v1/runs/${run}`)
  await timed(counted, () => server.call(paths[turn % paths.length] ?? '', { key }))
}

const open = [
  ...['/', '/models', '/plans', '/docs', '/docs/runs', '/verify', '/explorer', '/terminal'],
  ...['/signin', '/v1/status', '/v1/anchors', '/v1/signer', '/readyz', '/openapi.json'],
  ...['/v1/explorer/stats?window=24h', '/v1/explorer/recent', '/llms.txt', '/sitemap.xml'],
]

async function readPublic({ server, turn, counted }: Client): Promise<void> {
  await timed(counted, () => server.call(open[turn % open.length] ?? ''))
}

const own = ['/dashboard', '/dashboard/runs', '/dashboard/usage', '/dashboard/receipts']

async function readSignedIn({ signedIn, turn, counted }: Client): Promise<void> {
  const headers = { accept: 'text/html' }
  await timed(counted, () => signedIn.call(own[turn % own.length] ?? '', { headers }))
}

/** Follows a page as it changes for two seconds. */
async function follow({ signedIn, server, turn }: Client): Promise<void> {
  const headers = cookieHeader(signedIn.jar)
  const path = turn % 2 === 0 ? '/api/portal/overview/live' : '/explorer/stream'
  await leave((signal) => server.call(path, { signal, headers }), 2000)
}

async function speakTools({ server, key }: Client): Promise<void> {
  const headers = { accept: 'application/json, text/event-stream' }
  const json = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }
  await textOf(await server.call('/mcp', { key, headers, json }), 200)
}

async function paid(client: Client, path: string, json: unknown): Promise<void> {
  const answer = await client.server.call(path, { key: client.key, json })
  const { id, receipt } = JSON.parse(await textOf(answer, 200))
  remember(client.receipts, receipt.id)
  remember(client.runs, id)
}

async function timed(counted: Counted, ask: () => Promise<Response>): Promise<void> {
  const begun = performance.now()
  await textOf(await ask(), 200)
  counted.times.push(performance.now() - begun)
}

async function textOf(answer: Response, status: number): Promise<string> {
  const text = await answer.text()
  if (answer.status === status) return text
  throw new Error(`${answer.url} is ${answer.status}: ${text.slice(0, 200)}`)
}

/** Reads a stream for a while and goes, as a client that is closed. */
async function leave(ask: (signal: AbortSignal) => Promise<Response>, afterMs: number) {
  const away = new AbortController()
  const answer = await ask(away.signal)
  if (answer.status !== 200) await textOf(answer, 200)
  const timer = setTimeout(() => away.abort(), afterMs)
  try {
    for await (const _ of answer.body ?? []);
    throw new Error(`${answer.url} ended by itself`)
  } catch (error) {
    if (!away.signal.aborted) throw error
  } finally {
    clearTimeout(timer)
  }
}

function remember(ids: string[], id: string): void {
  ids.push(id)
  if (ids.length > remembered) ids.shift()
}

/** The same order each time: one kind after another would be no mixture. */
function shuffled<T>(all: T[]): T[] {
  const step = 37
  return all.map((_, i) => all[(i * step) % all.length] as T)
}
