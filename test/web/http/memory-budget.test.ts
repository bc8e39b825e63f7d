import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { usableMemory } from '../../../src/app/usable-memory.ts'
import { Refusal } from '../../../src/kernel/refusal.ts'
import { BodyRoom, MemoryBudget, StreamRoom } from '../../../src/web/http/memory-budget.ts'
import { promise } from '../../support/promise.ts'
import { modelToml, until, upstreamToml } from '../../support/runs.ts'
import { usd, type World, world } from '../../support/world.ts'

const mb = 1_000_000

const make = (clientBytes = 100 * mb) => {
  const budget = new MemoryBudget({ clientBytes })
  const room = (holder: string, isStranger = false) => new BodyRoom(budget, { holder, isStranger })
  const take = (of: BodyRoom, bytes: number): boolean => {
    try {
      of.take(bytes)
      return true
    } catch (error) {
      if (error instanceof Refusal && error.type === 'rate_limited') return false
      throw error
    }
  }
  const ended: string[] = []
  /** A stream without a reader, of so many bytes. */
  const unread = (holder: string, bytes: number, name: string, isStranger = false) => {
    const leave = () => ended.push(name)
    const stream = new StreamRoom(budget, { holder, isStranger }, { leave })
    stream.hold(bytes)
    return stream
  }
  return { room, take, unread, ended, budget }
}

promise`S10 H: Large bodies and unread streams share one budget of memory, fair by account, and give it
  back with the first byte, a refusal or a break.`
describe('the budget of bodies', () => {
  test('An account alone gets most of it, and others still find room', () => {
    const { room, take } = make()
    const hog = Array.from({ length: 200 }, () => room('a')).filter((one) => take(one, mb))
    expect(hog.length).toBeGreaterThan(80)
    expect(hog.length).toBeLessThan(95)
    expect(take(room('b'), 5 * mb)).toBe(true)
    expect(take(room('a'), mb)).toBe(false)
  })

  test('What is given back can be taken again, to the last byte', () => {
    const { room, take } = make()
    for (let i = 0; i < 1000; i++) {
      const [one, other] = [room('a'), room('b', true)]
      expect(take(one, 80 * mb)).toBe(true)
      expect(take(other, 12 * mb)).toBe(true)
      other.release(2 * mb)
      other.release()
      other.release()
      one.release()
    }
  })

  test('A body that is alone has room also above the budget', () => {
    const { room, take } = make(mb)
    const [one, other] = [room('a'), room('b')]
    expect(take(one, 5 * mb)).toBe(true)
    expect(take(other, 1)).toBe(false)
    one.release()
    expect(take(other, 5 * mb)).toBe(true)
  })

  test('Strangers share an eighth, however many there are', () => {
    const { room, take } = make()
    const networks = Array.from({ length: 50 }, (_, i) => room(`192.0.2.${i}`, true))
    expect(networks.filter((one) => take(one, mb))).toHaveLength(12)
    expect(take(room('a'), 60 * mb)).toBe(true)
  })
})

promise`K20`
describe('unread streams in that budget', () => {
  test('An account alone keeps most of it; then its longest ends', () => {
    const { unread, ended, budget } = make()
    for (let i = 0; i < 200; i++) unread('a', mb, `a${i}`)
    expect(ended.length).toBeGreaterThan(105)
    expect(ended.length).toBeLessThan(120)
    expect(ended).toEqual(ended.map((_, i) => `a${i}`))
    expect(budget.taken).toBe((200 - ended.length) * mb)
  })

  test('A body takes the room of the streams of larger accounts, and of no others', () => {
    const { room, take, unread, ended } = make()
    unread('c', 2 * mb, 'c')
    for (let i = 0; i < 85; i++) unread('a', mb, `a${i}`)
    ended.length = 0
    expect(take(room('b'), 40 * mb)).toBe(true)
    expect(ended.length).toBeGreaterThan(20)
    expect(ended).not.toContain('c')
    const before = ended.length
    // An account ends no stream of its own for a body, and none in vain.
    expect(take(room('a'), 40 * mb)).toBe(false)
    expect(take(room('b'), 200 * mb)).toBe(false)
    expect(ended).toHaveLength(before)
  })

  test('A small account that falls behind ends a stream of the largest, not its own', () => {
    const { unread, ended, room, take } = make()
    for (let i = 0; i < 80; i++) unread('a', mb, `a${i}`)
    expect(take(room('b'), 15 * mb)).toBe(true)
    ended.length = 0
    unread('d', 10 * mb, 'd')
    expect(ended.length).toBeGreaterThan(0)
    expect(ended).not.toContain('d')
  })

  test('Strangers end streams of strangers where their eighth is full', () => {
    const { unread, ended } = make()
    for (let i = 0; i < 20; i++) unread('a', mb, `a${i}`)
    for (let i = 0; i < 30; i++) unread(`192.0.2.${i % 3}`, mb, `s${i}`, true)
    expect(ended.length).toBeGreaterThan(15)
    expect(ended.every((name) => name.startsWith('s'))).toBe(true)
  })

  test('All of it is free again once each was read or ended, in any order', () => {
    const { unread, room, take, budget } = make()
    for (let i = 0; i < 500; i++) {
      const streams = [0, 1, 2, 3].map((n) => unread(`${n % 2}`, 30 * mb, `${n}`, n % 2 === 0))
      const body = room('b')
      take(body, 20 * mb)
      streams[i % 4]?.hold(mb)
      for (const stream of streams) stream.release()
      body.release()
      streams[0]?.release()
      expect(budget.taken).toBe(0)
    }
  })
})

test('the memory of a container is that of its nearest limit', () => {
  const files: Record<string, string> = {
    '/proc/self/cgroup': '0::/system.slice/gateway.service\n',
    '/sys/fs/cgroup/memory.max': 'max\n',
    '/sys/fs/cgroup/system.slice/memory.max': '900000000\n',
    '/sys/fs/cgroup/system.slice/gateway.service/memory.max': '100000000\n',
  }
  expect(usableMemory((path) => files[path])).toBe(100_000_000)
  const old = { '/sys/fs/cgroup/memory/memory.limit_in_bytes': '50000000\n' } as typeof files
  expect(usableMemory((path) => old[path])).toBe(50_000_000)
  expect(usableMemory(() => undefined)).toBeGreaterThan(100_000_000)
})

promise`S10`
describe('large requests at a server', () => {
  let w: World
  let upstream: Bun.Server<undefined>
  let seen = 0
  const begin = Promise.withResolvers<void>()
  const end = Promise.withResolvers<void>()

  const chunk = (choice: object): string =>
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices: [choice] })}\n\n`

  beforeAll(async () => {
    upstream = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      async fetch(request) {
        await request.text()
        seen++
        await begin.promise
        const stream = new ReadableStream<Uint8Array>({
          async start(controller) {
            const send = (text: string) => controller.enqueue(new TextEncoder().encode(text))
            send(chunk({ index: 0, delta: { role: 'assistant', content: 'Hello' } }))
            await end.promise
            send(chunk({ index: 0, delta: {}, finish_reason: 'stop' }))
            send('data: [DONE]\n\n')
            controller.close()
          },
        })
        return new Response(stream, { headers: { 'content-type': 'text/event-stream' } })
      },
    })
    const toml = `[limits]\nclient_bytes = ${4 * mb}\nbody_bytes = ${3 * mb}\n`
    const url = `http://127.0.0.1:${upstream.port}/v1`
    const models = upstreamToml('stub', url) + modelToml('stub/large', '"stub:large"')
    w = await world({ toml: toml + models })
  })
  afterAll(async () => {
    end.resolve()
    await w.stop()
    upstream.stop(true)
  })

  const ask = (secret: string, bytes: number) => {
    const messages = [{ role: 'user', content: 'x'.repeat(bytes) }]
    const json = { model: 'stub/large', stream: true, max_tokens: 10, messages }
    return w.call('/v1/chat/completions', { key: secret, json })
  }

  test('Beyond the budget is 429 with the time to wait; it is free again with the first byte', async () => {
    const own = (await w.key({ balance: usd })).secret
    const account = `0x${'b'.repeat(40)}`
    const other = (await w.key({ balance: usd, account })).secret
    const running = [ask(own, 1.4 * mb), ask(own, 1.4 * mb)]
    await until('both to be asked', () => seen === 2)
    for (const secret of [own, other]) {
      const refused = await ask(secret, 1.4 * mb)
      expect(refused.status).toBe(429)
      expect((await refused.json()).error.type).toBe('rate_limited')
      expect(refused.headers.get('retry-after')).toBe('2')
      expect(refused.headers.get('retry-after-ms')).toBe('2000')
    }
    // What is small has room at any time, and so has what fits.
    const small = [ask(own, 1000), ask(other, 0.9 * mb)]
    await until('those to be asked', () => seen === 4)
    begin.resolve()
    const streams = await Promise.all([...running, ...small])
    expect(streams.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    // They still run, and take none.
    const next = await Promise.all([ask(own, 2.5 * mb), ask(other, 0.5 * mb)])
    expect(next.map(({ status }) => status)).toEqual([200, 200])
    end.resolve()
    for (const answer of [...streams, ...next]) expect(await answer.text()).toContain('[DONE]')
  })

  test('A refused, a broken and a replayed request give their room back', async () => {
    const { secret } = await w.key({ balance: usd })
    for (let i = 0; i < 5; i++) {
      const broken = await w.call('/v1/chat/completions', {
        method: 'POST',
        key: secret,
        headers: { 'content-type': 'application/json' },
        body: `{"a": "${'x'.repeat(2.9 * mb)}`,
      })
      expect(broken.status).toBe(400)
      const unknown = await w.call('/v1/chat/completions', {
        key: secret,
        json: { model: 'no/such', messages: 'x'.repeat(2.9 * mb) },
      })
      expect(unknown.status).toBe(404)
      const content = 'x'.repeat(2.9 * mb)
      const once = await w.call('/v1/chat/completions', {
        key: secret,
        headers: { 'idempotency-key': 'one' },
        json: {
          model: 'stub/large',
          stream: true,
          max_tokens: 1,
          messages: [{ role: 'user', content }],
        },
      })
      expect([once.status, once.headers.get('idempotent-replayed')]).toEqual([
        200,
        i === 0 ? null : 'true',
      ])
      await once.text()
    }
  })

  test('Without a key nothing is read: 401 for every size', async () => {
    const answer = await w.call('/v1/chat/completions', { json: { a: 'x'.repeat(2.9 * mb) } })
    expect(answer.status).toBe(401)
  })
})
