import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { connect, type Socket } from 'node:net'
import { expectBodies } from '../../../src/web/http/expected-body.ts'
import { MemoryBudget } from '../../../src/web/http/memory-budget.ts'
import { inTime } from '../../../src/web/http/slow-body.ts'
import { fault, promise } from '../../support/promise.ts'
import { until } from '../../support/runs.ts'
import { usd, type World, world } from '../../support/world.ts'

let w: World
let secret: string
const sockets: Socket[] = []

beforeAll(async () => {
  const limits = '[limits]\nbody_timeout_s = 3\nslow_bodies = 20\n'
  w = await world({ toml: `trusted_proxies = ["127.0.0.1"]\n${limits}` })
  secret = (await w.key({ balance: usd })).secret
})
afterAll(async () => {
  for (const socket of sockets) socket.destroy()
  await w.stop()
})

/** What a connection was answered, and whether it is over. */
type Slow = { answer: string; isClosed: boolean; send(text: string): void }

/** A client that begins a request, and then sends a byte now and then, or nothing more. */
function begin(text: string, { drips = false } = {}): Promise<Slow> {
  const { port } = new URL(w.origin)
  return new Promise((resolve) => {
    const slow = { answer: '', isClosed: false, send: (more: string) => void socket.write(more) }
    const options = { host: '127.0.0.1', port: Number(port) }
    const socket = connect(options, () => socket.write(text, () => resolve(slow)))
    const drip = drips ? setInterval(() => socket.write(' '), 200) : undefined
    socket.on('data', (bytes) => {
      slow.answer += String(bytes)
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      clearInterval(drip)
      slow.isClosed = true
      resolve(slow)
    })
    sockets.push(socket)
  })
}

const head = (more = '', length = 200): string =>
  `POST /v1/chat/completions HTTP/1.1\r\nHost: ${new URL(w.origin).host}\r\n${more}` +
  `Authorization: Bearer ${secret}\r\nContent-Type: application/json\r\n` +
  `Content-Length: ${length}\r\n\r\n`

const ask = async (): Promise<number> => {
  const messages = [{ role: 'user', content: 'hi' }]
  const json = { model: 'counterfoil/echo-1', messages }
  return (await w.call('/v1/chat/completions', { key: secret, json })).status
}
const statusOf = ({ answer }: Slow): string => answer.split(' ')[1] ?? ''

describe('a body that does not arrive', () => {
  promise`J7`
  test('is given up after its time, dripping or not, and its connection closed', async () => {
    const slow = [await begin(`${head()}{`), await begin(`${head()}{`, { drips: true })]
    const chunked = head().replace('Content-Length: 200', 'Transfer-Encoding: chunked')
    slow.push(await begin(`${chunked}5\r\n{"a":`))
    await until('all to be closed', () => slow.every(({ isClosed }) => isClosed), 20_000)
    expect(slow.map(statusOf)).toEqual(['400', '400', '400'])
    expect(slow[0]?.answer).toContain('The body took too long to arrive')
    expect(w.deps.live.count()).toBe(0)
  }, 30_000)

  test('one that arrives slowly but in time is read', async () => {
    const body = '{"model":"counterfoil/echo-1","messages":[{"role":"user","content":"hi"}]}'
    const slow = await begin(head('', body.length) + body.slice(0, 10))
    await Bun.sleep(1500)
    slow.send(body.slice(10))
    await until('the answer', () => slow.answer.includes('hi'), 10_000)
    expect(statusOf(slow)).toBe('200')
  }, 30_000)

  promise`S10`
  test('a large one has a second more for every 128 KiB that it announces', async () => {
    const message = '{"model":"counterfoil/echo-1","messages":[{"role":"user","content":"hi"}]}'
    const body = message.padEnd(512 * 1024)
    const slow = await begin(head('', body.length) + body.slice(0, 10))
    await Bun.sleep(4000)
    slow.send(body.slice(10))
    await until('the answer', () => slow.answer.includes('hi'), 10_000)
    expect(statusOf(slow)).toBe('200')
    const other = await begin(`${head('', 512 * 1024)}{`)
    const at = performance.now()
    await until('it to be given up', () => other.isClosed, 20_000)
    expect(performance.now() - at).toBeGreaterThan(5000)
    expect(statusOf(other)).toBe('400')
  }, 60_000)
})

describe('a length that is not a number', () => {
  test('is refused before any limit is asked, for everybody, and spoils no later request', async () => {
    const twice = (path: string, more = '') =>
      `POST ${path} HTTP/1.1\r\nHost: ${new URL(w.origin).host}\r\n${more}` +
      'Content-Type: application/json\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\n{}'
    const key = `Authorization: Bearer ${secret}\r\n`
    for (const text of [
      twice('/leaks'),
      twice('/leaks', 'Content-Encoding: identity\r\n'),
      twice('/v1/chat/completions', key),
      twice('/v1/chat/completions', `${key}Content-Encoding: gzip\r\n`),
    ]) {
      const sent = await begin(text)
      await until('the answer', () => sent.answer !== '', 10_000)
      expect([statusOf(sent), sent.answer]).toEqual([
        '400',
        expect.stringContaining('Send one Content-Length') as never,
      ])
    }
    // Bodies in chunks take room of the budget that all share.
    const chunked = head().replace('Content-Length: 200', 'Transfer-Encoding: chunked')
    const body = '{"model":"counterfoil/echo-1","messages":[{"role":"user","content":"hi"}]}'
    const frame = `${chunked}${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
    const both = await Promise.all([begin(frame), begin(frame)])
    await until('both answers', () => both.every(({ answer }) => answer.includes('hi')), 10_000)
    expect(both.map(statusOf)).toEqual(['200', '200'])
  })
})

describe('500 slow connections of one address', () => {
  promise`J7`
  fault`33`
  test('keep no one else out, and all are over soon', async () => {
    const beginnings = ['P', `GET /v1/models HTTP/1.1\r\nHost: localhost\r\nX-Slow: `]
    const open = Array.from({ length: 500 }, (_, i) =>
      begin(i % 5 < 2 ? (beginnings[i % 5] ?? '') : `${head()}{`, { drips: i % 2 === 0 }),
    )
    const slow = await Promise.all(open)
    const bodies = slow.filter((_, i) => i % 5 >= 2)
    const during = Array.from({ length: 40 }, ask)
    expect(new Set(await Promise.all(during))).toEqual(new Set([200]))
    await until('the bodies to be over', () => bodies.every(({ isClosed }) => isClosed), 30_000)
    const statuses = new Set(bodies.map(statusOf))
    expect([...statuses].toSorted()).toEqual(['400', '429'])
    expect(await ask()).toBe(200)
  }, 60_000)
})

describe('the slow bodies of one address', () => {
  const settings = {
    bodyTimeoutS: 60,
    slowBodies: 20,
    trustedProxies: ['10.0.0.1'],
  }
  const memory = new MemoryBudget({ clientBytes: 1e9 })
  const addresses: [what: string, hog: string, other: string, header: string][] = [
    ['another address', '192.0.2.1', '192.0.2.2', ''],
    ['another network of IPv6', '2001:db8:0:1::1', '2001:db8:0:2::1', ''],
    ['another client of the same trusted proxy', '10.0.0.1', '10.0.0.1', '192.0.2.3'],
  ]
  promise`J7`
  // These wait for the clock and share nothing, so all wait at once.
  test.concurrent.each(addresses)(
    'are so many and no more; %s has its own',
    async (_, hog, other, header) => {
      const expectBody = expectBodies({ settings, memory })
      const waiting = Array.from({ length: 30 }, () => Promise.withResolvers<string>())
      const last = Promise.withResolvers<string>()
      const refused: unknown[] = []
      const read = (address: string, body: Promise<string>, headers: HeadersInit = {}) => {
        const request = new Request('http://localhost/', { method: 'POST', headers })
        expectBody(request, { requestIP: () => ({ address }) })
        return inTime(request, body)
      }
      const note = (error: unknown) => void refused.push(error)
      const reads = waiting.map(({ promise }) => read(hog, promise).catch(note))
      await until('ten to be refused', () => refused.length === 10, 20_000)
      expect(refused[0]).toMatchObject({ type: 'rate_limited' })
      const forwarded: Record<string, string> = header ? { 'x-forwarded-for': header } : {}
      const theirs = read(other, last.promise, forwarded)
      await Bun.sleep(1500)
      last.resolve('whole')
      expect(await theirs).toBe('whole')
      for (const { resolve } of waiting) resolve('whole')
      await Promise.all(reads)
      expect(refused).toHaveLength(10)
      // What ended gave its place back.
      const again = Promise.withResolvers<string>()
      const next = read(hog, again.promise)
      await Bun.sleep(1500)
      again.resolve('whole')
      expect(await next).toBe('whole')
    },
    60_000,
  )
})

promise`J7`
fault`33`
test.concurrent('a head that does not arrive is given up by 12 s, dripping or not', async () => {
  const unfinished = 'GET /v1/models HTTP/1.1\r\nHost: localhost\r\nX-Slow: '
  const slow = [await begin(unfinished), await begin(unfinished, { drips: true }), await begin('')]
  await until('all to be closed', () => slow.every(({ isClosed }) => isClosed), 30_000)
}, 40_000)
