import { heapStats } from 'bun:jsc'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { connect, type Socket } from 'node:net'
import { promise } from '../../support/promise.ts'
import {
  allRuns,
  chunkOf,
  expectSettled,
  lastRun,
  modelsToml,
  modelToml,
  until,
} from '../../support/runs.ts'
import {
  type StubHandler,
  type StubUpstream,
  startStubUpstream,
} from '../../support/stub-upstream.ts'
import { usd, type World, world } from '../../support/world.ts'

const mb = 1_000_000
const clientBytes = 24 * mb

let w: World
let stub: StubUpstream
let sockets: Socket[] = []
/** Bytes that were read of streams without an end, and the pause between two pieces, in ms. */
let flooded = 0
let pauseMs = 0
let isBroken = false

/** Says two words, or writes as fast as it is read, until the other side goes. */
const talk: StubHandler = async ({ body }, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  if (String(body['model']) === 'short') {
    response.end(`${chunkOf({ content: 'well, yes' })}${chunkOf({}, 'stop')}data: [DONE]\n\n`)
    return
  }
  const chunk = chunkOf({ content: 'x'.repeat(60_000) })
  const closed = new Promise((resolve) => response.once('close', resolve))
  while (!response.destroyed) {
    if (!response.write(chunk)) {
      await Promise.race([new Promise((resolve) => response.once('drain', resolve)), closed])
    }
    flooded += chunk.length
    if (pauseMs > 0) await Bun.sleep(pauseMs)
    if (isBroken) response.destroy()
  }
}

beforeAll(async () => {
  stub = await startStubUpstream({ handler: talk })
  const limits = `[limits]\nclient_bytes = ${clientBytes}\nbody_bytes = ${4 * mb}\ndrain_s = 8\n`
  const drained = modelToml('stub/drained', '"stub:flood"', 'on_disconnect = "drain"')
  const cut = modelToml('stub/flood', '"stub:flood"', 'on_disconnect = "cut"')
  w = await world({ toml: limits + modelsToml(stub.url, ['short']) + cut + drained })
})
afterEach(async () => {
  for (const socket of sockets) socket.destroy()
  sockets = []
  await until('the budget to be free', () => w.deps.memory.taken === 0, 10_000)
  await expectSettled(w)
})
afterAll(async () => {
  await w.stop()
  await stub.stop()
})

const accountOf = async (digit: string): Promise<string> =>
  (await w.key({ balance: 1000n * usd, account: `0x${digit.repeat(40)}` })).secret

const open = (head: string): Socket => {
  const socket = connect({ port: Number(new URL(w.origin).port), host: '127.0.0.1' })
  socket.on('error', () => undefined)
  socket.pause()
  socket.write(head)
  sockets.push(socket)
  return socket
}

const headOf = (secret: string, length: number): string =>
  `POST /v1/chat/completions HTTP/1.1\r\nhost: ${new URL(w.origin).host}\r\n` +
  `authorization: Bearer ${secret}\r\ncontent-type: application/json\r\n` +
  `content-length: ${length}\r\n\r\n`

/** A client that asks for a stream and reads nothing. */
const unread = (secret: string, model = 'stub/flood'): Socket => {
  const messages = [{ role: 'user', content: 'hello' }]
  const body = JSON.stringify({ model, messages, stream: true })
  return open(headOf(secret, body.length) + body)
}

const ask = (secret: string, bytes: number): Promise<Response> => {
  const messages = [{ role: 'user', content: 'x'.repeat(bytes) }]
  const json = { model: 'stub/short', stream: true, max_tokens: 10, messages }
  return w.call('/v1/chat/completions', { key: secret, json })
}

const running = async (): Promise<number> =>
  (await allRuns(w)).filter(({ status }) => status === 'running').length

/** Waits until no stream moves any more. */
const untilStuck = (): Promise<unknown> => {
  let before = -1
  return until(
    'the streams to be stuck',
    async () => {
      const isStuck = w.deps.memory.taken > mb && flooded === before
      before = flooded
      await Bun.sleep(150)
      return isStuck
    },
    20_000,
  )
}

promise`S10`
promise`K20`
describe('the memory that clients take', () => {
  test('an account with unread streams and slow bodies leaves the others theirs', async () => {
    const hostile = await accountOf('c')
    const other = await accountOf('d')
    for (let i = 0; i < 8; i++) unread(hostile)
    await until('a stream to be ended', async () => (await allRuns(w)).some(isCut), 20_000)
    await untilStuck()
    const { memory } = w.deps
    expect(memory.taken).toBeGreaterThan(clientBytes / 4)
    expect(memory.taken).toBeLessThan(clientBytes)
    for (let i = 0; i < 4; i++) open(`${headOf(hostile, 3.9 * mb)}{"model": `)
    await Bun.sleep(300)
    expect(memory.taken).toBeLessThan(clientBytes)
    expect((await ask(hostile, 3.9 * mb)).status).toBe(429)
    for (const bytes of [100, 1 * mb, 3.5 * mb]) {
      const answer = await ask(other, bytes)
      expect(answer.status).toBe(200)
      expect(await answer.text()).toContain('[DONE]')
    }
    const ended = (await allRuns(w)).filter(isCut)
    expect(ended.length).toBeGreaterThan(2)
    expect(ended.every(({ cost, error }) => cost > 0n && error !== null)).toBe(true)
  }, 60_000)

  test.each(['hangs up', 'resets', 'breaks above'])(
    'all is free after it %s',
    async (how) => {
      const secret = await accountOf('e')
      flooded = 0
      const three = [unread(secret), unread(secret), unread(secret)]
      await untilStuck()
      expect(w.deps.memory.taken).toBeGreaterThan(2 * mb)
      if (how === 'breaks above') {
        isBroken = true
        for (const socket of three) socket.resume()
      }
      for (const socket of three) {
        if (how === 'resets') socket.resetAndDestroy()
        else if (how === 'hangs up') socket.destroy()
      }
      await until('the runs to end', async () => (await running()) === 0, 10_000)
      isBroken = false
      await until('the budget to be free', () => w.deps.memory.taken === 0, 10_000)
    },
    60_000,
  )

  promise`D14`
  test('a drained run throws away all that it reads after its reader was dropped', async () => {
    const secret = await accountOf('f')
    flooded = 0
    const socket = unread(secret, 'stub/drained')
    await untilStuck()
    expect(w.deps.memory.taken).toBeGreaterThan(mb)
    const waiting = w.deps.memory.taken
    pauseMs = 2
    socket.destroy()
    await until('its reader to be gone', () => w.deps.memory.taken < waiting)
    // The receipt commits to what was delivered: that is kept, and counts.
    expect(w.deps.memory.taken).toBeGreaterThan(mb)
    Bun.gc(true)
    const [before, atFirst] = [heapStats().heapSize, flooded]
    await until('it to be read on', () => flooded > atFirst + 8 * mb, 10_000)
    expect(await running()).toBe(1)
    Bun.gc(true)
    expect(heapStats().heapSize - before).toBeLessThan(3 * mb)
    await until('its deadline', async () => (await running()) === 0, 20_000)
    pauseMs = 0
    const last = await lastRun(w)
    expect(last.status).toBe('cancelled')
    expect(last.cost).toBeGreaterThan(0n)
    expect(w.deps.memory.taken).toBe(0)
  }, 60_000)

  test('runs that are read on without a client end where their memory has no room', async () => {
    const secret = await accountOf('1')
    const known = (await allRuns(w)).length
    pauseMs = 2
    for (let i = 0; i < 8; i++) {
      const socket = unread(secret, 'stub/drained')
      await until('its run', async () => (await allRuns(w)).length === known + i + 1)
      await Bun.sleep(300)
      socket.destroy()
      expect(w.deps.memory.taken).toBeLessThan(clientBytes)
    }
    expect((await ask(await accountOf('2'), 1 * mb)).status).toBe(200)
    await until('all to end', async () => (await running()) === 0, 10_000)
    pauseMs = 0
    expect(w.deps.memory.taken).toBe(0)
  }, 60_000)
})

const isCut = ({ status }: { status: string }): boolean => status === 'cancelled'
