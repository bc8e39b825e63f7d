/**
 * What every fault is tried on: one service whose clients write down what they were told, and the
 * question afterwards whether it holds all of that, once.
 */
import { closeSync, mkdirSync, openSync } from 'node:fs'
import {
  binary,
  grant,
  type Home,
  makeHome,
  makeKey,
  type Server,
  type StartOptions,
} from '../test/support/binary.ts'
import { pacedModels, startPacedUpstream } from '../test/support/paced-upstream.ts'
import { startGate } from './fault-gate.ts'

/** One request of a client, under a key of its own, and what came of it. */
export type Asked = {
  idempotencyKey: string
  model: string
  stream: boolean
  sentAt: number
  endedAt: number
  /** 0 when the connection broke. */
  status: number
  /** Why not, as the answer or the stream said it. */
  reason: string | undefined
  paid: Paid | undefined
  /** What it was charged as, after it was asked again. */
  charged: Paid | undefined
  /** Whether that was told from memory: it had been stored before. */
  isReplayed: boolean
}

type Paid = { runId: string; receiptId: string; cost: number }

export type Bench = Awaited<ReturnType<typeof makeBench>>

/** What the key's account was granted, in nano-USD. */
export const credit = 1_000_000_000_000

/**
 * A service with a funded key. It outlives its servers: a fault once made stays visible. Its data
 * folder is a file system of its own where `smallMiB` says how large.
 */
export async function makeBench({ smallMiB }: { smallMiB?: number } = {}) {
  const stub = await startPacedUpstream()
  const gate = await startGate()
  const home = await makeHome(`${pacedModels(stub.url)}\n${gate.toml}\n${roomy}`)
  if (smallMiB !== undefined) mountSmall(home.data, smallMiB)
  const { secret } = await makeKey(home, { cap: '1000.00' })
  await grant(home, '1000.00')
  const remove = async () => {
    if (smallMiB !== undefined) Bun.spawnSync(['umount', '-l', home.data])
    await home.remove()
    await stub.stop()
    await gate.stop()
  }
  return { home, gate, secret, asked: [] as Asked[], remove }
}

function mountSmall(folder: string, MiB: number): void {
  mkdirSync(folder)
  const options = `size=${MiB}m,mode=0700`
  const { exitCode, stderr } = Bun.spawnSync(
    ['mount', '-t', 'tmpfs', '-o', options, 'tmpfs', folder],
    { stderr: 'pipe' },
  )
  if (exitCode !== 0) throw new Error(`no tmpfs: ${stderr}`)
}

const roomy = `
[limits]
rpm = 10_000_000
concurrency = 100_000

[[plans]]
id = "free"
limits = { rpm = 10_000_000, concurrency = 100_000 }
`

/** Without the replacement of itself at the start: what attaches to it keeps its process. */
const oneProcess = { BUN_CONFIG_MAX_HTTP_REQUESTS: '4096' }

export const startOn = ({ home }: Pick<Bench, 'home'>, options: StartOptions = {}) =>
  home.start({ ...options, env: { ...oneProcess, ...options.env } })

/** Starts the server as the last words of another command, which becomes it. */
export async function startUnder(
  { home }: Pick<Bench, 'home'>,
  wrap: string[],
  { env = {}, stderr }: { env?: Record<string, string>; stderr?: string } = {},
): Promise<Server> {
  const listener = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  const { port } = listener
  listener.stop(true)
  const child = spawnUnder(home, wrap, ['serve', '--listen', `127.0.0.1:${port}`], { env, stderr })
  const origin = `http://127.0.0.1:${port}`
  const startedAt = performance.now()
  while (!(await isReady(origin))) {
    if (child.exitCode !== null) throw new Error(`${wrap[0]} ended with ${child.exitCode}`)
    if (performance.now() - startedAt > 20_000) {
      child.kill('SIGKILL')
      throw new Error(`the server under ${wrap[0]} is not ready`)
    }
    await Bun.sleep(20)
  }
  const exited = child.exited.then(() => child.exitCode)
  return {
    origin,
    port,
    pid: child.pid,
    readyMs: performance.now() - startedAt,
    call: (path, { key, json, ...rest } = {}) => {
      const headers = new Headers(rest.headers)
      if (key) headers.set('authorization', `Bearer ${key}`)
      if (json === undefined) return fetch(origin + path, { ...rest, headers })
      headers.set('content-type', 'application/json')
      return fetch(origin + path, { method: 'POST', ...rest, headers, body: JSON.stringify(json) })
    },
    signal: (signal) => process.kill(child.pid, signal),
    stop(signal = 'SIGTERM') {
      if (child.exitCode === null && child.signalCode === null) process.kill(child.pid, signal)
      return exited
    },
    exited,
  }
}

/** A command of the executable as the last words of another one. */
export function spawnUnder(
  home: Home,
  wrap: string[],
  args: string[],
  {
    env = {},
    stderr = home.printed.stderr,
  }: { env?: Record<string, string>; stderr?: string } = {},
): Bun.Subprocess {
  const out = openSync(home.printed.stdout, 'a')
  const err = openSync(stderr, 'a')
  const child = Bun.spawn([...wrap, binary, ...args], {
    cwd: home.folder,
    env: { PATH: process.env['PATH'] ?? '', HOME: home.folder, ...oneProcess, ...env },
    stdin: 'ignore',
    stdout: out,
    stderr: err,
  })
  closeSync(out)
  closeSync(err)
  return child
}

async function isReady(origin: string): Promise<boolean> {
  try {
    return (await fetch(`${origin}/readyz`)).ok
  } catch {
    return false
  }
}

/** Some clients, each with one run after the other, until all are done or the server is gone. */
export async function askAll(
  bench: Bench,
  server: Server,
  { clients = 4, each = 6, model = 'stub/pace-5', streams = true } = {},
): Promise<Asked[]> {
  const all = await Promise.all(
    Array.from({ length: clients }, async (_, client) => {
      const mine: Asked[] = []
      for (let turn = 0; turn < each; turn++) {
        const asked = await ask(bench, server, {
          stream: streams && (client + turn) % 3 === 0,
          model,
        })
        mine.push(asked)
        if (asked.status === 0) break
      }
      return mine
    }),
  )
  return all.flat()
}

/** One run under a key of its own, written down. */
export async function ask(
  bench: Bench,
  server: Server,
  { stream = false, model = 'stub/pace-5' } = {},
): Promise<Asked> {
  const asked: Asked = {
    idempotencyKey: crypto.randomUUID(),
    model,
    stream,
    sentAt: performance.now(),
    endedAt: 0,
    status: 0,
    reason: undefined,
    paid: undefined,
    charged: undefined,
    isReplayed: false,
  }
  bench.asked.push(asked)
  await send(bench, server, asked)
  asked.endedAt = performance.now()
  return asked
}

/** Asks, for the first time or again; false when the answer was not told from memory. */
export async function send(
  { secret }: Pick<Bench, 'secret'>,
  server: Server,
  asked: Asked,
): Promise<boolean> {
  const messages = [{ role: 'user', content: `a drill ${asked.idempotencyKey}` }]
  try {
    const answer = await server.call('/v1/chat/completions', {
      key: secret,
      json: { model: asked.model, messages, stream: asked.stream },
      headers: { 'idempotency-key': asked.idempotencyKey },
      signal: AbortSignal.timeout(30_000),
    })
    asked.status = answer.status
    note(asked, await answer.text())
    return answer.headers.get('idempotent-replayed') === 'true'
  } catch {
    asked.status = 0
    return false
  }
}

function note(asked: Asked, text: string): void {
  const parts = asked.stream && asked.status === 200 ? eventsOf(text) : [JSON.parse(text)]
  for (const { id, receipt, error } of parts) {
    if (error) asked.reason = error.metadata?.reason ?? error.type
    if (receipt) asked.paid = { runId: id, receiptId: receipt.id, cost: receipt.cost_nusd }
  }
}

type Said = {
  id: string
  receipt?: { id: string; cost_nusd: number }
  error?: { type: string; metadata?: { reason?: string } }
}

const eventsOf = (text: string): Said[] =>
  text
    .split('\n\n')
    .filter((event) => event.startsWith('data: {'))
    .map((event) => JSON.parse(event.slice('data: '.length)))
