/**
 * `bun bench/upstream-exchange.ts [seconds] [rounds]`: CPU of one plain answer of an upstream, 32
 * at once, in this process: as runs ask it, through breaker, slots, meters and the strict reader,
 * and by bare sockets that write a request and parse what comes. In turns; medians.
 */
import type { Socket } from 'bun'
import { systemClock } from '../src/kernel/clock.ts'
import { StopSwitch } from '../src/kernel/stop.ts'
import { Breaker } from '../src/models/upstream/breaker.ts'
import { modelServer } from '../src/models/upstream/model-server.ts'
import { servedUpstream } from '../src/models/upstream/served.ts'
import { Slots } from '../src/models/upstream/slots.ts'
import { middle } from './table.ts'
import { startStub, toStub } from './targets.ts'

const [seconds = 2, rounds = 5] = Bun.argv.slice(2).map(Number)
const atOnce = 32
const stub = await startStub()
const { origin, hostname, port } = new URL(stub.origin)
const messages = [{ role: 'user', content: 'Say something short.' }]
const body = { model: toStub('t16'), messages, max_tokens: 64 }
const apiKey = 'sk-bench'

type Ask = () => Promise<unknown>

const ways: Record<string, Ask[]> = { bare: await bareAsks(), exchange: exchangeAsks() }
const costs: [name: string, cost: number][] = []
for (let round = 0; round <= rounds; round++) {
  for (const [name, asks] of Object.entries(ways)) {
    const cost = await costOf(asks)
    // The first round warms up.
    if (round > 0) costs.push([name, cost])
  }
}
for (const name of Object.keys(ways)) {
  const found = costs.flatMap(([way, cost]) => (way === name ? [cost] : []))
  const all = found.map((cost) => cost.toFixed(1)).join(' ')
  console.log(`${name.padEnd(9)} ${middle(found).toFixed(1)} µs of CPU an answer (${all})`)
}
await stub.process.stop()
process.exit(0)

/** µs of CPU for one, when each asks again as soon as it was answered. */
async function costOf(asks: readonly Ask[]): Promise<number> {
  const until = performance.now() + seconds * 1000
  const before = process.cpuUsage()
  let count = 0
  const keepAsking = async (ask: Ask) => {
    for (; performance.now() < until; count++) await ask()
  }
  await Promise.all(asks.map(keepAsking))
  const { user, system } = process.cpuUsage(before)
  return (user + system) / count
}

function exchangeAsks(): Ask[] {
  const meters = { upstreamAsked() {}, upstreamAnswered() {}, upstreamFailed() {} }
  const slots = new Slots({ most: 1024, maxWaitMs: 5000 })
  const times = { clock: systemClock, suspends: () => 0 }
  const breaker = new Breaker({ failures: 5, cooldownMs: 30_000 }, times, () => {})
  const server = modelServer({ id: 'stub', baseUrl: `${origin}/v1`, apiKey })
  const upstream = servedUpstream(server, { meters, clock: systemClock, slots, breaker })
  const ask = () =>
    upstream.complete({ kind: 'chat', body, account: 'a', signal: new StopSwitch() })
  return Array.from({ length: atOnce }, () => ask)
}

function bareAsks(): Promise<Ask[]> {
  const head =
    `POST /v1/chat/completions HTTP/1.1\r\nhost: ${hostname}\r\n` +
    `authorization: Bearer ${apiKey}\r\ncontent-type: application/json\r\ncontent-length: `
  type Waiting = { resolve(answer: unknown): void }
  const open = async (): Promise<Ask> => {
    const socket: Socket<Waiting> = await Bun.connect<Waiting>({
      hostname,
      port: Number(port),
      data: { resolve() {} },
      socket: {
        data({ data }, bytes) {
          data.resolve(JSON.parse(bytes.toString('utf8', bytes.indexOf('\r\n\r\n') + 4)))
        },
      },
    })
    return () => {
      const text = JSON.stringify(body)
      const { promise, resolve } = Promise.withResolvers<unknown>()
      socket.data.resolve = resolve
      socket.write(`${head}${Buffer.byteLength(text)}\r\n\r\n${text}`)
      return promise
    }
  }
  return Promise.all(Array.from({ length: atOnce }, open))
}
