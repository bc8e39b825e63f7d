import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { connect, type Socket } from 'node:net'
import { systemClock } from '../../../src/kernel/clock.ts'
import { makeIds } from '../../../src/kernel/ids.ts'
import { systemRandom } from '../../../src/kernel/random.ts'
import { refuse } from '../../../src/kernel/refusal.ts'
import { expectBodies } from '../../../src/web/http/expected-body.ts'
import type { Listen } from '../../../src/web/http/host.ts'
import { MemoryBudget } from '../../../src/web/http/memory-budget.ts'
import { makeRoot } from '../../../src/web/http/root.ts'
import { serve } from '../../../src/web/http/serve.ts'
import {
  dataFrame,
  type SseClient,
  type SseOptions,
  sseResponse,
} from '../../../src/web/http/sse.ts'
import { fault, promise } from '../../support/promise.ts'

const listen: Listen = { hostname: '127.0.0.1', port: 0 }
const bugs: unknown[] = []
const seen = { started: 0, sent: 0, mostUnread: 0, ended: Promise.withResolvers<string>() }
const onBug = (error: unknown) => bugs.push(error)
const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

/** Runs by name; each tells `seen.ended` how it ended. */
const runs: Record<string, (client: SseClient) => Promise<void>> = {
  two: async (client) => {
    await client.send(dataFrame('1'))
    await client.send(dataFrame('2') + dataFrame('[DONE]'))
  },
  drip: async (client) => {
    while (!client.signal.aborted) {
      await client.send(dataFrame('"drop"'))
      await sleep(20)
    }
  },
  wait: async ({ signal }) => {
    await new Promise<void>((resolve) => signal.addEventListener('abort', resolve))
  },
  flood: async (client) => {
    const frames = dataFrame(`"${'x'.repeat(64 * 1024)}"`)
    while (!client.signal.aborted && seen.sent < 200e6) {
      await client.send(frames)
      seen.sent += frames.length
    }
  },
  tail: async (client) => {
    for (let i = 0; i < 400; i++) client.send(dataFrame(`"${'x'.repeat(64 * 1024)}"`))
  },
  refused: async (client) => {
    await client.send(dataFrame('1'))
    refuse('upstream_error')
  },
  broken: async (client) => {
    await client.send(dataFrame('1'))
    throw new Error('the password is hunter2')
  },
  'broken at once': () => {
    throw new Error('the password is hunter2')
  },
  'broken when gone': async ({ signal }) => {
    await new Promise<void>((resolve) => signal.addEventListener('abort', resolve))
    throw new Error('the settle failed')
  },
}

const settings = { clientBytes: 1e9, bodyTimeoutS: 30, slowBodies: 64, trustedProxies: [] }
const memory = new MemoryBudget(settings)

const app = makeRoot({
  expectBody: expectBodies({ settings, memory }),
  baseUrl: 'https://gw.example',
  listen,
  ids: makeIds(systemClock, systemRandom()),
  log: { error: () => undefined },
}).get('/v1/stream/:run', ({ request, set, server, params, headers }) => {
  const run = runs[decodeURIComponent(params.run)]
  if (!run) refuse('not_found')
  const options: SseOptions = { onBug, ...JSON.parse(headers['x-options'] ?? '{}') }
  return sseResponse(
    { request, set, server },
    async (client) => {
      seen.started++
      try {
        await run(client)
      } finally {
        seen.ended.resolve(client.signal.aborted ? 'gone' : 'whole')
      }
    },
    options,
  )
})
const server = serve(app, listen)
afterAll(() => server.stop(true))

beforeEach(() => {
  bugs.length = 0
  Object.assign(seen, { started: 0, sent: 0, ended: Promise.withResolvers<string>() })
})

const get = (run: string, options: Partial<SseOptions> = {}, method = 'GET') =>
  fetch(`http://localhost:${listen.port}/v1/stream/${encodeURIComponent(run)}`, {
    method,
    headers: { 'x-options': JSON.stringify(options) },
  })

/** A client that asks and then does what the test tells it; it reads nothing before `resume`. */
async function open(run: string, options: Partial<SseOptions> = {}): Promise<Socket> {
  const socket = connect(listen.port, '127.0.0.1')
  socket.on('error', () => undefined)
  socket.pause()
  await new Promise<void>((resolve) => socket.on('connect', resolve))
  socket.write(
    `GET /v1/stream/${run} HTTP/1.1\r\nHost: localhost:${listen.port}\r\n` +
      `x-options: ${JSON.stringify(options)}\r\n\r\n`,
  )
  return socket
}

describe('a whole stream', () => {
  test('carries the frames as they were sent', async () => {
    const answer = await get('two')
    expect(await answer.text()).toBe('data: 1\n\ndata: 2\n\ndata: [DONE]\n\n')
    expect(await seen.ended.promise).toBe('whole')
  })

  test('has the headers of a stream and of every answer', async () => {
    const { headers } = await get('two')
    expect(headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('x-accel-buffering')).toBe('no')
    expect(headers.get('x-request-id')).toMatch(/^req_/)
    expect(headers.get('x-content-type-options')).toBe('nosniff')
  })

  promise`B18`
  test('A HEAD request runs no stream.', async () => {
    const answer = await get('wait', {}, 'HEAD')
    expect(answer.status).toBe(200)
    expect(await answer.text()).toBe('')
    expect(seen.started).toBe(0)
  })
})

describe('an error after the first byte', () => {
  test('a refusal is the last event, and no [DONE] follows', async () => {
    const answer = await get('refused')
    const [first, last, ...rest] = (await answer.text()).split('\n\n')
    expect(first).toBe('data: 1')
    expect(JSON.parse(last?.slice('data: '.length) ?? '').error).toMatchObject({
      type: 'upstream_error',
      request_id: answer.headers.get('x-request-id'),
    })
    expect(rest).toEqual([''])
    expect(bugs).toEqual([])
  })

  test.each(['broken', 'broken at once'])('a bug (%s) is told to us only', async (run) => {
    const text = await (await get(run)).text()
    expect(text).toContain('"type":"internal_error"')
    expect(text).not.toContain('hunter2')
    expect(bugs).toHaveLength(1)
  })
})

describe('a silent stream', () => {
  promise`D15 H: A silent stream is kept alive, and every run has a last moment.`
  fault`25: an upstream answers 200 and then nothing → the client is pinged, then told of the
    timeout, and pays what it got`
  test('sends its head at once and a comment in each interval', async () => {
    const stop = new AbortController()
    const answer = await fetch(`http://localhost:${listen.port}/v1/stream/wait`, {
      signal: stop.signal,
      headers: { 'x-options': '{"heartbeatMs":40}' },
    })
    const reader = answer.body?.getReader()
    for (let i = 0; i < 3; i++) {
      const part = await reader?.read()
      expect(new TextDecoder().decode(part?.value)).toBe(': ping\n\n')
    }
    stop.abort()
    expect(await seen.ended.promise).toBe('gone')
  })
})

promise`D13`
fault`31: a client goes away: with a FIN, with a reset, or without a word → the upstream is stopped;
  who says nothing is gone after the deadline of a write`
describe('a client that hangs up', () => {
  const within = (ms: number) =>
    Promise.race([seen.ended.promise, sleep(ms).then(() => 'not noticed')])

  test.each(['drip', 'wait', 'broken%20when%20gone'])(
    'reaches the run (%s) within 1 s',
    async (run) => {
      const socket = await open(run)
      while (seen.started === 0) await sleep(1)
      socket.destroy()
      expect(await within(1000)).toBe('gone')
      await sleep(0)
      expect(bugs).toHaveLength(run.startsWith('broken') ? 1 : 0)
    },
  )

  fault`31`
  test('A stream notices a client that resets its connection.', async () => {
    const socket = await open('drip')
    while (seen.started === 0) await sleep(1)
    socket.resetAndDestroy()
    expect(await within(1000)).toBe('gone')
  })

  test('while it is behind, too', async () => {
    const socket = await open('flood')
    while (seen.sent === 0) await sleep(1)
    await sleep(50)
    socket.destroy()
    expect(await within(1000)).toBe('gone')
  })

  promise`K20`
  test('a hundred of them leave nothing behind', async () => {
    const sockets = await Promise.all(Array.from({ length: 100 }, () => open('drip')))
    while (seen.started < 100) await sleep(1)
    for (const socket of sockets) socket.destroy()
    await sleep(300)
    expect(server.pendingRequests).toBe(0)
    expect(bugs).toEqual([])
  })
})

describe('a client that does not read', () => {
  promise`D14 H: A client that reads slowly takes a bounded buffer and a bounded time.`
  promise`K20 H: Many streams and slow readers take a bounded memory. Missing: a test of a bound of
    the whole process; half an hour of everything is measured in drills.md, 1,000 streams in
    benchmarks.md.`
  fault`21: memory runs out → what clients and upstreams make it keep is bounded; killed, it loses
    nothing [faults memory, soak]`
  fault`31`
  fault`32: a client never reads → it is sent no more than the buffer, and is gone after the
    deadline`
  test('is sent no more than the buffer, and counts as gone after the deadline', async () => {
    const socket = await open('flood', { writeDeadlineMs: 200 })
    expect(await seen.ended.promise).toBe('gone')
    // The system's own socket buffers hold some MiB on top of our one.
    expect(seen.sent).toBeLessThan(24e6)
    socket.destroy()
  })

  test('counts as gone where the budget has no room for more, and has waited longest', async () => {
    settings.clientBytes = 70_000
    const first = await open('flood', { writeDeadlineMs: 20_000 })
    const { ended } = seen
    await sleep(300)
    expect(memory.taken).toBeGreaterThan(64 * 1024)
    const second = await open('flood', { writeDeadlineMs: 20_000 })
    expect(await ended.promise).toBe('gone')
    await sleep(100)
    expect(memory.taken).toBeGreaterThan(64 * 1024)
    expect(memory.taken).toBeLessThan(70_000)
    settings.clientBytes = 1e9
    first.destroy()
    second.destroy()
    while (server.pendingRequests > 0) await sleep(20)
    expect(memory.taken).toBe(0)
  })

  test('is waited for while it reads slowly but does', async () => {
    const socket = await open('flood', { writeDeadlineMs: 2000 })
    let taken = 0
    socket.on('data', (data) => {
      taken += data.length
    })
    socket.resume()
    while (taken < 40e6) await sleep(5)
    socket.destroy()
    expect(await seen.ended.promise).toBe('gone')
    expect(seen.sent).toBeGreaterThan(39e6)
  })

  // Bun counts idle seconds in steps of four.
  test('is let go of with what it never read, after the run ended', async () => {
    const socket = await open('tail', { writeDeadlineMs: 1000 })
    expect(await seen.ended.promise).toBe('whole')
    // Its run is over; what it keeps still counts.
    expect(memory.taken).toBeGreaterThan(10e6)
    while (server.pendingRequests > 0) await sleep(50)
    expect(memory.taken).toBe(0)
    socket.destroy()
  }, 15_000)
})
